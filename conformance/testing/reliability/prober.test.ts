import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { startReceiver } from "../../../fake-server/receiver/index.ts";
import { catalogue } from "../../contract/catalogue.ts";
import { conform } from "../../engine/conform.ts";
import { rules } from "../../rules/index.ts";
import { runOptions, startFake } from "../fake.ts";
import { probeKinds, startProber } from "./prober.ts";

/** The receiver stands behind a load balancer that looks all the time whether it is there. */

const gating = rules.filter(
  ({ requirement }) =>
    requirement.startsWith("push.") && ["required", "derived"].includes(catalogue[requirement].level),
);

/** Judges the pushes of a fake beside a prober. */
const judge = async (behaviour: string, of = gating) => {
  const fake = await startFake({ behaviour });
  const receiver = await startReceiver();
  const prober = startProber(Number(new URL(receiver.callbackUrl).port), 25, probeKinds);
  try {
    const { results } = await conform({
      ...runOptions(),
      resolved: await fake.resolved(),
      receiver,
      rules: of,
      freshUuid: randomUUID,
    });
    expect(prober.probes()).toBeGreaterThanOrEqual(probeKinds.length);
    return Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
  } finally {
    for (const one of [prober, fake, receiver]) await one.stop();
  }
};

it("takes nothing from a sound sender's verdicts", async () => {
  const verdicts = await judge("sound");
  expect(Object.entries(verdicts).filter(([, { kind }]) => kind !== "passed")).toEqual([]);
  expect(verdicts["push.cap"]).toMatchObject({
    facts: { connectionsWithoutPush: { silent: expect.any(Number) } },
  });
});

it.each([
  ["push-reading-r7-from-start", "push.cap"],
  ["push-last-retry-never-sent", "push.schedule"],
  ["push-5xx-final", "push.unacknowledged-retries"],
] as const)("hides nothing: %s breaks %s", async (behaviour, id) => {
  const only = gating.filter(({ requirement }) => requirement === id);
  expect((await judge(behaviour, only))[id]).toMatchObject({ kind: "failed" });
});
