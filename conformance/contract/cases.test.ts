import { describe, expect, it } from "vitest";
import { breach } from "../testing/made.ts";
import { isJudged, whyOpenCases, type Case } from "./cases.ts";
import { gateCases, type JudgedGate } from "./gate-cases.ts";
import type { RuleResult } from "./record.ts";
import type { Verdict } from "./verdict.ts";

const result = (id: RuleResult["id"], verdict: Verdict): RuleResult => ({
  id,
  level: "required",
  group: "code",
  durationMs: 5,
  verdict,
  exchanges: [],
});

const judged = (rules: readonly RuleResult[], more: Partial<JudgedGate> = {}): readonly Case[] =>
  gateCases({
    rules,
    selected: rules.map(({ id }) => id),
    waivers: [],
    pinned: {},
    strict: false,
    notes: [],
    ...more,
  });

const id = "code.single-use";
const failed = result(id, { kind: "failed", cases: 3, breach: breach({ expected: "a", actual: "b" }) });
const observed = result(id, { kind: "observed", cases: 1, fingerprint: "1" });
const waiver = { id, reason: "known", owner: "us", expires: "2030-02-01" };

describe("what a gate judged", () => {
  it.each([
    ["passed", result(id, { kind: "passed", cases: 3 }), { status: "passed", measured: { value: 3 } }],
    ["failed", failed, { status: "failed", expected: "a", seen: "b" }],
    ["observed", observed, { status: "passed", seen: "1" }],
    ["harness error", result(id, { kind: "harness-error", message: "m" }), { status: "error", open: true }],
    [
      "could not run",
      result(id, { kind: "could-not-run", missing: "a hook", reason: "no" }),
      { status: "skipped", open: true, seen: "no; a hook is missing" },
    ],
    [
      "not applicable",
      result(id, { kind: "not-applicable", by: "service", reason: "no" }),
      { status: "skipped", seen: "no" },
    ],
    [
      "excluded by the profile",
      result(id, { kind: "not-applicable", by: "profile", reason: "no" }),
      { status: "skipped", open: true },
    ],
    ["not judged", result(id, { kind: "passed", cases: 0 }), { status: "skipped", open: true }],
  ] as const)("has an item for each rule: %s", (verdict, rule, expected) => {
    expect(judged([rule])).toMatchObject([{ id, group: "code", verdict, ...expected }]);
  });

  it("excuses a breach under a waiver, and has an item for a waiver that fails the run", () => {
    const [excused] = judged([failed], { waivers: [{ ...waiver, state: "active" }] });
    expect(excused).toMatchObject({ status: "skipped", verdict: "failed" });
    expect(excused !== undefined && isJudged(excused)).toBe(true);
    expect(judged([], { waivers: [{ ...waiver, state: "stale" }] })).toMatchObject([
      { id: `waiver of ${id}`, group: "waivers", status: "failed", verdict: "stale" },
    ]);
  });

  it("fails a pinned observation that changed, with what is pinned", () => {
    expect(judged([observed], { pinned: { [id]: "2" } })).toMatchObject([
      { status: "failed", verdict: "drifted", expected: "2", seen: "1" },
    ]);
  });

  it("names the rules that a run did not reach, with its reason if the target was down", () => {
    const unreached = judged([], { selected: [id], exitCode: 4, notes: ["the target is down"] });
    expect(unreached).toMatchObject([{ id, verdict: "not reached", seen: "the target is down", open: true }]);
    expect(whyOpenCases(unreached)).toBe("1 rule was not reached");
  });
});

describe("why a record is incomplete", () => {
  const item = (more: Partial<Case>): Case => ({
    id: "x",
    group: "code",
    status: "passed",
    verdict: "passed",
    ...more,
  });
  const open = item({ status: "skipped", verdict: "inconclusive", open: true });
  const figure = item({ group: "speed", status: "measured", verdict: "measured" });

  it.each([
    ["nothing was judged", []],
    [undefined, [item({}), figure]],
    ["1 of 2 rules could not be judged", [item({}), open, figure]],
    ["1 of 1 limit could not be judged", [item({}), { ...open, group: "objectives" }]],
    [
      "ended early: the target is down",
      [open, { ...open, group: "load", verdict: "ended early", seen: "the target is down" }],
    ],
  ])("%s", (why, cases) => {
    expect(whyOpenCases(cases)).toBe(why);
  });
});
