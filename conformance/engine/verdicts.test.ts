import { describe, expect, it } from "vitest";
import type { Verdict } from "../contract/verdict.ts";
import { ofTwoPushRuns } from "./verdicts.ts";

const passed: Verdict = { kind: "passed", cases: 9 };
const open: Verdict = {
  kind: "inconclusive",
  reason: "connections were lost",
  settle: "a quiet machine",
  cases: 0,
};
const broken: Verdict = {
  kind: "failed",
  cases: 9,
  breach: {
    expected: "a push",
    actual: "none",
    evidence: [],
    reproduction: { seed: 1, replayed: { failures: 0, attempts: 0 } },
  },
};
const replayed = (failures: number, attempts: number) => ({
  kind: "failed",
  breach: { reproduction: { replayed: { failures, attempts } } },
});
const settle = "an idle machine";

describe("the verdict of two push runs", () => {
  it.each([
    ["is open, and the second breaks the rule", open, broken, settle, { kind: "failed" }],
    [
      "is open, and the second passes",
      open,
      passed,
      settle,
      { ...passed, facts: { leftOpenByTheFirstPushRun: "connections were lost" } },
    ],
    ["is open, and the second is too", open, { ...open, reason: "again" }, settle, open],
    ["breaks the rule as the second does", broken, broken, settle, replayed(1, 1)],
    [
      "alone breaks the rule, perhaps for lack of CPU",
      broken,
      passed,
      settle,
      { kind: "inconclusive", settle },
    ],
    ["alone breaks the rule, and no machine can be the cause", broken, passed, undefined, replayed(0, 1)],
    ["breaks the rule, and the second decides nothing", broken, open, undefined, replayed(0, 0)],
  ] as const)("the first %s", (_, first, again, cause, expected) => {
    expect(ofTwoPushRuns(first, again, cause)).toMatchObject(expected);
  });
});
