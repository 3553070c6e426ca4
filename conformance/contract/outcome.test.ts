import { describe, expect, it } from "vitest";
import { requirement, type RequirementId } from "./catalogue.ts";
import { drifted, exitCodeOf, outcomeOf, type OutcomeOptions, applyWaivers } from "./outcome.ts";
import { outcomes, type Outcome, type RuleResult } from "./record.ts";
import type { Verdict } from "./verdict.ts";
import { breach } from "../testing/made.ts";
import { exitCodeMeanings, exitCodes } from "./exit-codes.ts";

const verdicts = {
  passed: { kind: "passed", cases: 2 },
  vacuous: { kind: "passed", cases: 0 },
  failed: { kind: "failed", cases: 2, breach: breach() },
  warned: { kind: "warned", cases: 2, breach: breach() },
  observed: { kind: "observed", cases: 1, fingerprint: '"json"' },
  pending: { kind: "pending", due: "2027-01-01", reason: "30 days" },
  notApplicableByProfile: { kind: "not-applicable", by: "profile", reason: "no such thing here" },
  notApplicableByService: { kind: "not-applicable", by: "service", reason: "it redirects" },
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
  it.each<[Outcome, string, readonly RuleResult[], OutcomeOptions?]>([
    ["incomplete", "nothing ran", []],
    ["passed", "a required rule passed", [required("passed")]],
    ["failed", "a required rule failed", [required("failed"), derived("passed")]],
    ["failed", "an unspecified rule failed, as it can with a pinned reading", [unspecified("failed")]],
    [
      "failed",
      "one rule failed and another had a harness error",
      [required("harnessError"), derived("failed")],
    ],
    [
      "failed",
      "one rule failed and a pinned observation drifted",
      [unspecified("observed"), derived("failed")],
      otherwise,
    ],
    ["harness-error", "a rule had a harness error", [required("passed"), unspecified("harnessError")]],
    [
      "harness-error",
      "one rule had a harness error and another could not run",
      [required("couldNotRun"), derived("harnessError")],
    ],
    ["incomplete", "a required rule could not run", [required("couldNotRun"), derived("passed")]],
    [
      "incomplete",
      "a required rule does not apply according to the profile",
      [required("notApplicableByProfile"), derived("passed")],
    ],
    [
      "passed",
      "a required rule does not apply because of how the service behaves",
      [required("notApplicableByService"), derived("passed")],
    ],
    [
      "incomplete",
      "the only rule does not apply because of how the service behaves",
      [required("notApplicableByService")],
    ],
    ["incomplete", "a required rule judged no case", [required("vacuous"), derived("passed")]],
    [
      "incomplete",
      "a required rule could not run and a pinned observation drifted",
      [required("couldNotRun"), unspecified("observed")],
      otherwise,
    ],
    ["passed", "an advisory rule warned", [required("passed"), advisory("warned")]],
    ["failed", "an advisory rule warned in a strict run", [required("passed"), advisory("warned")], strict],
    ["passed", "an advisory rule could not run", [required("passed"), advisory("couldNotRun")]],
    ["passed", "an observation could not be made", [required("passed"), unspecified("inconclusive")]],
    [
      "incomplete",
      "a pinned observation could not be made",
      [required("passed"), unspecified("inconclusive")],
      asPinned,
    ],
    ["passed", "a pinned observation is unchanged", [required("passed"), unspecified("observed")], asPinned],
    ["drifted", "a pinned observation drifted", [required("passed"), unspecified("observed")], otherwise],
    ["passed", "only advisory rules were selected and all passed", [advisory("passed")]],
    ["passed", "only advisory rules were selected and one warned", [advisory("warned")]],
    ["passed", "only observations were made", [unspecified("observed")]],
    ["incomplete", "only an advisory rule was selected and it could not run", [advisory("couldNotRun")]],
  ])("is %s when %s", (expected, _, results, options = lax) => {
    expect(outcomeOf(results, options)).toBe(expected);
    expect(outcomeOf(results.toReversed(), options)).toBe(expected);
  });

  it("never leads to exit code 0 when a required rule failed or was not decided", () => {
    const settling = ["passed", "warned", "observed", "notApplicableByService"];
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

it("lists only the pinned observations that drifted", () => {
  expect(drifted([unspecified("observed"), required("passed")], otherwise.pinned)).toEqual([
    "authorize.redirect",
  ]);
  expect(drifted([unspecified("observed")], asPinned.pinned)).toEqual([]);
  expect(drifted([unspecified("inconclusive")], otherwise.pinned)).toEqual([]);
  expect(drifted([unspecified("observed")], {})).toEqual([]);
});

it("maps each outcome to its own documented exit code, and only passed to 0", () => {
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
    [
      "a breach without a waiver fails the gate",
      "2030-06-30",
      [required("failed"), derived("failed")],
      "failed",
    ],
    ["a breach under an expired waiver fails the gate", "2030-07-01", [required("failed")], "failed"],
    [
      "an expired waiver fails the gate even if its rule passes",
      "2030-07-01",
      [required("passed")],
      "failed",
    ],
    ["a waiver whose rule passes fails the gate", "2030-06-30", [required("passed")], "failed"],
    [
      "an expired waiver has no effect if its rule was not selected",
      "2031-01-01",
      [derived("passed")],
      "passed",
    ],
  ] as const)("%s", (_, today, results, outcome) => {
    expect(outcomeOn(today, results)).toBe(outcome);
  });

  it("a warning under a waiver does not fail a strict gate", () => {
    const results = [required("passed"), advisory("warned")];
    const waivers = applyWaivers([{ ...waiver, id: "code.bound-to-client" }], results, "2030-01-01");
    expect([outcomeOf(results, strict), outcomeOf(results, { ...strict, waivers })]).toEqual([
      "failed",
      "passed",
    ]);
  });
});
