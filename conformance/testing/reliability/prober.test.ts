import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { startReceiver } from "../../../fake-server/receiver/index.ts";
import { catalogue } from "../../contract/catalogue.ts";
import { conform } from "../../engine/conform.ts";
import { rules } from "../../rules/index.ts";
import { runOptions, startFake } from "../fake.ts";
import { startProber, type ProbeKind } from "./prober.ts";

/** The receiver stands behind a load balancer that looks all the time whether it is there. */

const gating = rules.filter(
  ({ requirement }) =>
    requirement.startsWith("push.") && ["required", "derived"].includes(catalogue[requirement].level),
);
/** A hundredth of the document's, and some more for machines with much to do. */
const limits = { pushDelaysMs: [450, 900, 1_800, 3_600] };
const kinds: readonly ProbeKind[] = ["connects", "connects", "resets", "shakes hands", "speaks no TLS"];

/** Judges the pushes of a fake beside a prober; its clock is moved by hand or goes by itself. */
const judge = async (behaviour: string, clock: "virtual" | "real") => {
  const isReal = clock === "real";
  const fake = await startFake({
    behaviour,
    ...(isReal ? { clockMode: "flowing" as const, limits: { ...limits, senderTimeoutMs: 1_000 } } : {}),
  });
  const receiver = await startReceiver();
  const prober = startProber(Number(new URL(receiver.callbackUrl).port), isReal ? 150 : 25, kinds);
  try {
    const { events, callback } = (await fake.resolved()).profile.hooks ?? {};
    const resolved = await fake.resolved(
      isReal
        ? {
            hooks: {
              ...(events === undefined ? {} : { events }),
              ...(callback === undefined ? {} : { callback }),
            },
            limits,
            tolerances: { latenessMs: 400, visibilityMs: 500 },
          }
        : {},
    );
    const { results } = await conform({
      ...runOptions(),
      resolved,
      receiver,
      rules: gating,
      freshUuid: randomUUID,
      maxWaitMs: 30_000,
    });
    expect(prober.probes()).toBeGreaterThan(20);
    return Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
  } finally {
    for (const one of [prober, fake, receiver]) await one.stop();
  }
};

const unpassed = (verdicts: Awaited<ReturnType<typeof judge>>) =>
  Object.entries(verdicts).filter(([, { kind }]) => kind !== "passed");

// In real time a busy machine may truly make a sound sender late.
it.concurrent.each([["virtual"], ["real"]] as const)(
  "takes nothing from a sound sender's verdicts, %s time",
  { retry: 2 },
  async (clock) => {
    const verdicts = await judge("sound", clock);
    expect(unpassed(verdicts)).toEqual([]);
    expect(verdicts["push.cap"]).toMatchObject({
      facts: { connectionsWithoutPush: { silent: expect.any(Number) } },
    });
  },
);

it.concurrent.each([
  ["push-reading-r7-from-start", "push.cap", "virtual"],
  ["push-last-retry-never-sent", "push.schedule", "virtual"],
  ["push-5xx-final", "push.unacknowledged-retries", "virtual"],
] as const)("hides nothing: %s breaks %s, %s time", { retry: 2 }, async (behaviour, id, clock) => {
  expect((await judge(behaviour, clock))[id]).toMatchObject({ kind: "failed" });
});
