import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { gateDoc } from "../../reports/document/gate.ts";
import { renderTerminal } from "../../reports/terminal/document.ts";
import { plain } from "../../reports/terminal/palette.ts";
import { catalogue } from "../contract/catalogue.ts";
import type { RunRecord } from "../contract/record.ts";
import { recordedRun } from "./recorded-run.ts";
import type { Rule } from "../checks/rule.ts";
import { rules } from "../rules/index.ts";
import { startFake } from "../testing/fake.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-real-time-"));
const open: { stop(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(open.map((one) => one.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** The document's limits a hundredth as long and less; whatever a rule waits for is over within seconds. */
const limits = {
  codeLifetimeMs: 4_000,
  refreshTokenLifetimeMs: 8_000,
  pushDelaysMs: [300, 600, 1_200, 2_400],
};

/** Judges a fake in real time: its profile has hooks for events and the callback, and none for the clock. */
const openTarget = async (behaviour: string) => {
  const fake = await startFake({
    behaviour,
    clockMode: "flowing",
    limits: { ...limits, accessTokenLifetimeMs: 4_000, senderTimeoutMs: 1_000 },
  });
  const receiver = await startReceiver();
  open.push(fake, receiver);
  const { events, callback } = (await fake.resolved()).profile.hooks ?? {};
  const resolved = await fake.resolved({
    hooks: { ...(events === undefined ? {} : { events }), ...(callback === undefined ? {} : { callback }) },
    limits,
    // How late pushes may be is left to what the run measures of this machine.
    tolerances: { lifetimeGuardMs: 400, visibilityMs: 500 },
  });
  return async (of: readonly Rule[]): Promise<RunRecord> => {
    const { record } = await recordedRun({
      resolved,
      receiver,
      rules: of,
      effort: "quick",
      seed: 1,
      strict: false,
      maxWaitMs: 20_000,
      signal: new AbortController().signal,
      freshUuid: randomUUID,
      out: path.join(folder, randomUUID()),
    });
    return record;
  };
};

const isGating = ({ requirement }: Rule): boolean =>
  ["required", "derived"].includes(catalogue[requirement].level);

/** What these rules came to that did not pass, with the reason. */
const unpassed = ({ rules: results }: RunRecord, of: readonly Rule[]) =>
  of.filter(isGating).flatMap(({ requirement }) => {
    const verdict = results.find(({ id }) => id === requirement)?.verdict;
    return verdict?.kind === "passed" ? [] : [{ requirement, verdict }];
  });

/** How often rules are judged again that a machine with too much else to do left undecided. */
const FURTHER_RUNS = 2;

// Real time has no mercy on a busy machine: there even a sound sender may truly be late, and need only manage once.
it.concurrent(
  "the whole gate passes in real time, by limits that its report names first",
  { retry: 2 },
  async () => {
    const judge = await openTarget("sound");
    const record = await judge(rules);
    expect(record.target.clock).toBe("real");
    expect(new Set(record.rules.map(({ id }) => id))).toEqual(
      new Set(rules.map(({ requirement }) => requirement)),
    );
    const report = renderTerminal(gateDoc({ record, run: "run" }), { columns: 100, palette: plain });
    expect(report.split("\n")[0]).toMatch(/^Judged by limits that are not the document’s/);
    expect(record.replacedLimits.toSorted()).toEqual(Object.keys(limits).toSorted());
    let left = unpassed(record, rules);
    for (let run = 0; run < FURTHER_RUNS && left.length > 0; run += 1) {
      expect(left.filter(({ verdict }) => verdict?.kind !== "inconclusive")).toEqual([]);
      const again = rules.filter(({ requirement }) => left.some((one) => one.requirement === requirement));
      left = unpassed(await judge(again), again);
    }
    expect(left).toEqual([]);
  },
);

it.concurrent.each([
  ["code-lives-eleven-minutes", "code.lifetime"],
  ["push-reading-r7-from-start", "push.cap"],
])("%s breaks %s in real time as well", async (behaviour, id) => {
  const judge = await openTarget(behaviour);
  const of = rules.filter(({ requirement }) => requirement === id);
  let record = await judge(of);
  for (let run = 0; run < FURTHER_RUNS && record.rules[0]?.verdict.kind === "inconclusive"; run += 1)
    record = await judge(of);
  expect(record.rules[0]).toMatchObject({ id, verdict: { kind: "failed" } });
});
