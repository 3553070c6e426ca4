import { describe, expect, it } from "vitest";
import { requirement, type RequirementId } from "./catalogue.ts";
import { drifted, exitCodeOf, outcomeOf } from "./outcome.ts";
import { outcomes, type Outcome, type RuleResult } from "./record.ts";
import type { Verdict } from "./verdict.ts";
import { applyWaivers } from "./waivers.ts";
import { exitCodeMeanings, exitCodes } from "./exit-codes.ts";

const breach = {
  expected: "right",
  actual: "wrong",
  evidence: [],
  reproduction: { seed: 1, replayed: { failures: 1, attempts: 1 } },
};
const verdicts = {
  passed: { kind: "passed", cases: 2 },
  vacuous: { kind: "passed", cases: 0 },
  failed: { kind: "failed", cases: 2, breach },
  warned: { kind: "warned", cases: 2, breach },
  observed: { kind: "observed", cases: 1, fingerprint: '"json"' },
  pending: { kind: "pending", due: "2027-01-01", reason: "30 days" },
  notApplicable: { kind: "not-applicable", by: "profile", reason: "no such thing here" },
  noRoom: { kind: "not-applicable", by: "service", reason: "it redirects" },
  couldNotRun: { kind: "could-not-run", missing: "events", reason: "no hook" },
  inconclusive: { kind: "inconclusive", reason: "no control", settle: "a control", cases: 1 },
  harnessError: { kind: "harness-error", message: "a slip" },
} as const satisfies Record<string, Verdict>;

const result = (id: RequirementId, name: keyof typeof verdicts): RuleResult => ({
  id,
  level: requirement(id).level,
  group: requirement(id).group,
  verdict: verdicts[name],
  durationMs: 1,
  exchanges: [],
});

const required = (name: keyof typeof verdicts) => result("code.single-use", name);
const derived = (name: keyof typeof verdicts) => result("code.unknown", name);
const advisory = (name: keyof typeof verdicts) => result("code.bound-to-client", name);
const unspecified = (name: keyof typeof verdicts) => result("authorize.redirect", name);

const lax = { strict: false, pinned: {} };
const strict = { strict: true, pinned: {} };
const asPinned = { strict: false, pinned: { "authorize.redirect": '"json"' } };
const otherwise = { strict: false, pinned: { "authorize.redirect": '"302"' } };

describe("the outcome of a run", () => {
  it.each([
    ["nothing ran", [], lax, "incomplete"],
    ["a required rule passed", [required("passed")], lax, "passed"],
    ["a derived rule passed", [derived("passed")], lax, "passed"],
    ["a required rule failed", [required("failed"), derived("passed")], lax, "failed"],
    ["a derived rule failed", [derived("failed")], lax, "failed"],
    ["an unspecified one failed, as pinned readings can", [unspecified("failed")], lax, "failed"],
    ["a breach beside a harness error", [required("harnessError"), derived("failed")], lax, "failed"],
    ["a breach beside what could not run", [required("couldNotRun"), derived("failed")], lax, "failed"],
    ["a breach beside drift", [unspecified("observed"), derived("failed")], otherwise, "failed"],
    ["a harness error", [required("passed"), unspecified("harnessError")], lax, "harness-error"],
    [
      "a harness error beside what could not run",
      [required("couldNotRun"), derived("harnessError")],
      lax,
      "harness-error",
    ],
    ["a required rule could not run", [required("couldNotRun"), derived("passed")], lax, "incomplete"],
    ["a required rule is pending", [required("pending"), derived("passed")], lax, "incomplete"],
    ["a required rule is inconclusive", [required("inconclusive"), derived("passed")], lax, "incomplete"],
    ["a required rule does not apply", [required("notApplicable"), derived("passed")], lax, "incomplete"],
    [
      "a required rule has no room in a conforming service",
      [required("noRoom"), derived("passed")],
      lax,
      "passed",
    ],
    ["nothing but a rule that has no room", [required("noRoom")], lax, "incomplete"],
    ["a required rule judged no case", [required("vacuous"), derived("passed")], lax, "incomplete"],
    [
      "what is missing beside drift",
      [required("couldNotRun"), unspecified("observed")],
      otherwise,
      "incomplete",
    ],
    ["an advisory rule warned", [required("passed"), advisory("warned")], lax, "passed"],
    ["an advisory rule warned, strictly", [required("passed"), advisory("warned")], strict, "failed"],
    ["an advisory rule could not run", [required("passed"), advisory("couldNotRun")], lax, "passed"],
    ["an observation could not be made", [required("passed"), unspecified("inconclusive")], lax, "passed"],
    [
      "a pinned observation could not be made",
      [required("passed"), unspecified("inconclusive")],
      asPinned,
      "incomplete",
    ],
    ["a pinned observation is unchanged", [required("passed"), unspecified("observed")], asPinned, "passed"],
    ["a pinned observation drifted", [required("passed"), unspecified("observed")], otherwise, "drifted"],
    ["only advisory rules, all of which ran", [advisory("passed")], lax, "passed"],
    ["only advisory rules, one of which warned", [advisory("warned")], lax, "passed"],
    [
      "only advisory rules, one of which could not run",
      [advisory("passed"), advisory("couldNotRun")],
      lax,
      "incomplete",
    ],
    ["only observations", [unspecified("observed")], lax, "passed"],
    ["only what could not run", [advisory("couldNotRun")], lax, "incomplete"],
  ] as const)("%s", (_, results, options, expected) => {
    expect(outcomeOf(results, options)).toBe(expected);
    expect(outcomeOf(results.toReversed(), options)).toBe(expected);
  });

  it("is never green if any gating verdict is not passed", () => {
    const settling = ["passed", "warned", "observed", "noRoom"];
    const names = (Object.keys(verdicts) as (keyof typeof verdicts)[]).filter(
      (name) => !settling.includes(name),
    );
    expect(names.length).toBeGreaterThan(5);
    const green = names.filter((name) =>
      [[required(name), derived("passed")], [required(name)]].some(
        (results) => exitCodeOf(outcomeOf(results, lax)) === 0,
      ),
    );
    expect(green).toEqual([]);
  });
});

it("names the observations that drifted, and those alone", () => {
  expect(drifted([unspecified("observed"), required("passed")], otherwise.pinned)).toEqual([
    "authorize.redirect",
  ]);
  expect(drifted([unspecified("observed")], asPinned.pinned)).toEqual([]);
  expect(drifted([unspecified("inconclusive")], otherwise.pinned)).toEqual([]);
  expect(drifted([unspecified("observed")], {})).toEqual([]);
});

it("gives every outcome its own exit code with a meaning, and 0 to passed alone", () => {
  const codes = outcomes.map((outcome: Outcome) => exitCodeOf(outcome));
  expect(codes).toEqual([0, 1, 3, 6, 5, 130]);
  for (const code of Object.values(exitCodes)) expect(exitCodeMeanings[code]).toMatch(/\w/);
});

describe("waivers", () => {
  const waiver = { id: "code.single-use", reason: "known", owner: "the team", expires: "2030-06-30" };
  const outcomeOn = (today: string, results: readonly RuleResult[], of = waiver): Outcome =>
    outcomeOf(results, { ...lax, waivers: applyWaivers([of], results, today) });

  it.each([
    ["a breach under a waiver does not fail the gate", "2030-06-30", [required("failed")], "passed"],
    ["another breach does", "2030-06-30", [required("failed"), derived("failed")], "failed"],
    ["on the day after its last day it fails the gate", "2030-07-01", [required("failed")], "failed"],
    ["so it does if the rule passes", "2030-07-01", [required("passed")], "failed"],
    ["a waiver that covers nothing any more fails the gate", "2030-06-30", [required("passed")], "failed"],
    ["what could not be judged stays open", "2030-06-30", [required("inconclusive")], "incomplete"],
    ["a rule that was not asked for leaves its waiver alone", "2031-01-01", [derived("passed")], "passed"],
  ] as const)("%s", (_, today, results, outcome) => {
    expect(outcomeOn(today, results)).toBe(outcome);
  });

  it("a warning under a waiver passes a strict gate", () => {
    const results = [required("passed"), advisory("warned")];
    const waivers = applyWaivers([{ ...waiver, id: "code.bound-to-client" }], results, "2030-01-01");
    expect([outcomeOf(results, strict), outcomeOf(results, { ...strict, waivers })]).toEqual([
      "failed",
      "passed",
    ]);
  });
});
