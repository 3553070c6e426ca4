import { randomUUID } from "node:crypto";
import path from "node:path";
import { expect, it } from "vitest";
import { joint } from "../../fake-server/index.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { given } from "../contract/given.ts";
import type { RunRecord } from "../contract/record.ts";
import type { Verdict } from "../contract/verdict.ts";
import { recordedRun } from "./recorded-run.ts";
import type { Rule } from "../checks/rule.ts";
import { rules } from "../rules/index.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { probeKinds, startProber } from "../testing/surroundings.ts";
import { folderOfFile } from "../testing/folders.ts";

const folder = folderOfFile();

/** A few thousandths of the document's limits, so that every wait is over within seconds. */
const limitsAt = (scale: number) => ({
  codeLifetimeMs: scale * 4_000,
  refreshTokenLifetimeMs: scale * 8_000,
  pushDelaysMs: [300, 600, 1_200, 2_400].map((delayMs) => scale * delayMs),
});

/** They grow with the limits: otherwise a slow machine would be as much too slow for longer limits. */
const tolerancesAt = (scale: number) => ({ lifetimeGuardMs: scale * 400, visibilityMs: scale * 500 });

/**
 * A busy machine makes even a sound sender really late, by a good part of such short limits but next to nothing of the
 * document's own: what does not get the right verdict at the first of these scales must get it at a later one.
 */
const scales = [1, 3, 9] as const;

/**
 * Judges a fake in real time: its profile has hooks for events and the callback, and none for the clock. Nothing of it
 * outlives its test.
 */
const judgeAt = async (behaviour: string, scale: number, of: readonly Rule[]): Promise<RunRecord> => {
  const limits = limitsAt(scale);
  const fake = await startFake({
    behaviour,
    clockMode: "flowing",
    limits: { ...limits, accessTokenLifetimeMs: limits.codeLifetimeMs, senderTimeoutMs: scale * 1_000 },
  });
  const receiver = await startReceiver();
  // The receiver is behind a load balancer with health checks.
  const prober = startProber(Number(new URL(receiver.callbackUrl).port), 150, probeKinds);
  const resolved = await fake.resolved(({ hooks }) => ({
    hooks: given({ events: hooks?.events, callback: hooks?.callback }),
    limits,
    // The tolerance for late pushes is what the run measures on this machine.
    tolerances: tolerancesAt(scale),
  }));
  try {
    const { record } = await recordedRun({
      ...runOptions(),
      resolved,
      receiver,
      rules: of,
      maxWaitMs: scale * 20_000,
      out: path.join(folder, randomUUID()),
    });
    return record;
  } finally {
    for (const one of [prober, fake, receiver]) await one.stop();
  }
};

/** The results of these rules that did not pass, with the reason. */
const unpassed = ({ rules: results }: RunRecord, of: readonly Rule[]) =>
  of.flatMap(({ requirement }) => {
    const verdict = results.find(({ id }) => id === requirement)?.verdict;
    return verdict?.kind === "passed" ? [] : [{ requirement, verdict }];
  });

/** One of each way to wait: what others judge of the same lives and pushes is the same in virtual time. */
const waiting = rules.filter(({ requirement }) =>
  ["code.lifetime", "access.lifetime", "refresh.lifetime", "push.schedule", "push.cap"].includes(requirement),
);

it("rules that wait pass in real time beside a prober", async () => {
  let left = waiting;
  let notPassed: ReturnType<typeof unpassed> = [];
  let cap: Verdict | undefined;
  for (const scale of scales) {
    const record = await judgeAt("sound", scale, left);
    expect(record.target.clock).toBe("real");
    expect(new Set(record.rules.map(({ id }) => id))).toEqual(
      new Set(left.map(({ requirement }) => requirement)),
    );
    expect(record.replacedLimits.toSorted()).toEqual(Object.keys(limitsAt(scale)).toSorted());
    cap = record.rules.find(({ id }) => id === "push.cap")?.verdict ?? cap;
    notPassed = unpassed(record, left);
    left = left.filter((rule) => notPassed.some(({ requirement }) => requirement === rule.requirement));
    if (left.length === 0) break;
  }
  expect(notPassed).toEqual([]);
  expect(cap).toMatchObject({ facts: { connectionsWithoutPush: { silent: expect.any(Number) } } });
  // At the last scale a run waits for minutes of real time, twice as long if it repeats its pushes, and a busy machine is slower.
}, 1_800_000);

it.concurrent("a code that lives too long and a sixth push fail their rules in real time as well", async () => {
  const behaviour = ["code-lives-eleven-minutes", "push-reading-r7-from-start"].join(joint);
  const broken = ["code.lifetime", "push.cap"];
  let of = rules.filter(({ requirement }) => broken.includes(requirement));
  expect(of).toHaveLength(broken.length);
  for (const scale of scales) {
    const { rules: results } = await judgeAt(behaviour, scale, of);
    of = of.filter(({ requirement }) => {
      const verdict = results.find(({ id }) => id === requirement)?.verdict;
      return verdict?.kind !== "failed";
    });
    if (of.length === 0) return;
  }
  expect(of.map(({ requirement }) => requirement)).toEqual([]);
});
