import { describe, expect, it } from "vitest";
import type { Verdict } from "../contract/verdict.ts";
import { breach } from "../testing/made.ts";
import { ofTwoPushRuns } from "./verdicts.ts";

const passed: Verdict = { kind: "passed", cases: 9 };
const open: Verdict = {
  kind: "inconclusive",
  reason: "connections were lost",
  settle: "a quiet machine",
  cases: 0,
};
const broken: Verdict = { kind: "failed", cases: 9, breach: breach() };
const replayed = (failures: number, attempts: number) => ({
  kind: "failed",
  breach: { reproduction: { replayed: { failures, attempts } } },
});
const settle = "an idle machine";

describe("the verdict of two push runs", () => {
  it.each([
    ["is failed if the first is inconclusive and the second fails", open, broken, settle, { kind: "failed" }],
    [
      "is passed, with the first reason as a fact, if the first is inconclusive and the second passes",
      open,
      passed,
      settle,
      { ...passed, facts: { leftOpenByTheFirstPushRun: "connections were lost" } },
    ],
    ["is inconclusive if both are", open, { ...open, reason: "again" }, settle, open],
    ["is failed and replayed if both fail", broken, broken, settle, replayed(1, 1)],
    [
      "is inconclusive if only the first fails, perhaps for lack of CPU",
      broken,
      passed,
      settle,
      { kind: "inconclusive", settle },
    ],
    [
      "is failed if only the first fails and the machine cannot be the cause",
      broken,
      passed,
      undefined,
      replayed(0, 1),
    ],
    [
      "is failed without a replay if the first fails and the second is inconclusive",
      broken,
      open,
      undefined,
      replayed(0, 0),
    ],
  ] as const)("%s", (_, first, again, cause, expected) => {
    expect(ofTwoPushRuns(first, again, cause)).toMatchObject(expected);
  });
});
