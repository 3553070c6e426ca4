import { documentLimits } from "../../conformance/contract/limits.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { suitesOf } from "../ci/cases.ts";
import type { RecordedGate, RecordedLoad, RecordedRun } from "../read/index.ts";
import {
  authorized,
  breachOf,
  loadRecordOf,
  recordOf,
  resultOf,
  ruleThat,
  withResults,
  hostile,
} from "./fixture.ts";

/** Runs as test cases. */
export const suites = (...runs: RecordedRun[]) => suitesOf(runs, "touchstone");

/** A gate run for tests of CI reports. */
export const gateRun = (rules: readonly RuleResult[], more: Partial<RunRecord> = {}): RecordedGate => ({
  kind: "conform",
  directory: "runs/one",
  record: recordOf({ rules, ...more }),
});

export const failedRule = ruleThat.failed(
  "code.single-use",
  "the second exchange is refused",
  "it yielded a token",
);

export const missingRule = ruleThat.couldNotRun("refresh.lifetime", "it would take 30 days");

const waiver = { reason: "known", owner: "the token team", expires: "2030-02-01" } as const;

const shownRules = [
  failedRule,
  missingRule,
  ruleThat.passed("code.unknown", 25),
  ruleThat.warned("code.bound-to-client", "it is refused", "it got status 200"),
  ruleThat.failed("access.required", "it is refused", "it got status 200"),
  ruleThat.observed("authorize.redirect", '{"status":302}'),
  resultOf("access.header", { kind: "harness-error", message: "it broke", stack: "at x" }),
  resultOf("refresh.reauthorize", { kind: "pending", due: "2030-02-01", reason: "issued in this run" }),
  resultOf("push.cap", { kind: "not-applicable", by: "profile", reason: "no pushes" }),
];

/** A gate with an item of each kind that a CI service shows. */
export const shownGate = gateRun(shownRules, {
  selected: [...shownRules.map(({ id }) => id), "code.lifetime"],
  pinned: { "authorize.redirect": '{"status":200}' },
  waivers: [
    { ...waiver, id: "access.required", state: "active" },
    { ...waiver, id: "exchange.token-set", state: "stale" },
  ],
  outcome: "failed",
  exitCode: 1,
});

/** A run with every kind of verdict and with malicious texts. */
export const hostileRun = gateRun(
  withResults(
    resultOf(
      "code.single-use",
      {
        kind: "failed",
        cases: 1,
        breach: breachOf(hostile, hostile, {
          part: hostile,
          reproduction: { seed: 1, counterexample: hostile, replayed: { failures: 1, attempts: 2 } },
        }),
        facts: { [hostile]: hostile, readings: [hostile] },
      },
      [
        authorized(1, {
          request: { method: hostile, path: hostile, headers: [[hostile, hostile]], body: hostile },
          answer: { status: 200, headers: [[hostile, hostile]], text: hostile },
        }),
      ],
    ),
    ruleThat.observed("authorize.redirect", JSON.stringify({ [hostile]: hostile })),
    resultOf("code.unknown", { kind: "inconclusive", cases: 1, reason: hostile, settle: hostile }),
    resultOf("code.independence", { kind: "harness-error", message: hostile, stack: hostile }),
    ruleThat.warned("code.bound-to-client", hostile, hostile),
    ruleThat.couldNotRun("refresh.lifetime", hostile, hostile),
    resultOf("refresh.reauthorize", { kind: "pending", due: "2030-02-01", reason: hostile }),
    resultOf("push.cap", { kind: "not-applicable", by: "profile", reason: hostile }),
  ),
  {
    outcome: "failed",
    exitCode: 1,
    notes: [hostile],
    target: { name: hostile, baseUrl: hostile, profiles: [hostile], behaviour: hostile, clock: hostile },
    replacedLimits: [hostile],
    limits: { ...documentLimits },
  },
);

/** Two objectives of a load run: one missed, one held. */
export const missedAndHeld: LoadRecord["objectives"] = [
  {
    name: "list p95",
    limit: 8,
    unit: "ms",
    bound: "at most",
    measured: 9.4,
    interval: [8.9, 10.1],
    verdict: "breached",
  },
  { name: "failed", limit: 0.01, unit: "share", bound: "at most", measured: 0.001, verdict: "held" },
];

/** A load run: one objective missed, one held, one not measured; one rule broken, one held, one not checked. */
export const loadRun = (more: Partial<LoadRecord> = {}): RecordedLoad => ({
  kind: "load",
  directory: "runs/two",
  record: loadRecordOf({
    achieved: {
      arrivalsAsked: 1_500,
      arrivals: 1_500,
      dropped: 0,
      requests: 6_000,
      requestsPerSecond: 100,
      seconds: 60,
    },
    objectives: [
      ...missedAndHeld,
      {
        name: "exchange p99",
        limit: 8,
        unit: "ms",
        bound: "at most",
        verdict: "not measured",
        reason: "no samples",
      },
    ],
    rules: [
      { id: "code.single-use", checks: 900, breaches: 2 },
      { id: "access.required", checks: 900, breaches: 0 },
      { id: "refresh.reusable", checks: 0, breaches: 0, note: "no refresh in this scenario" },
    ],
    breaches: [
      {
        rule: "code.single-use",
        atMs: 31_000,
        expected: "one succeeds",
        actual: "both succeeded",
        askedRate: 100,
        exchanges: [],
      },
    ],
    outcome: "failed",
    exitCode: 1,
    ...more,
  }),
});

const unjudged = { objectives: [], rules: [], breaches: [] } as const;

/** Loads that ended in other ways than with a breach. */
export const shownLoads = {
  invalid: loadRun({
    ...unjudged,
    validity: {
      valid: false,
      reasons: [{ reason: "12 iterations were dropped", remedy: "ask for less" }],
    },
    outcome: "incomplete",
    exitCode: 3,
  }),
  stopped: loadRun({
    ...unjudged,
    stopped: "more than 50 % of the requests failed for 5 consecutive seconds",
  }),
  "without a rate": loadRun({ ...unjudged, breakpoint: { heldTo: 0, endedAt: 12 } }),
  "ended by k6": loadRun({ ...unjudged, stopped: "k6 gave up", outcome: "incomplete", exitCode: 3 }),
  crashed: loadRun({ ...unjudged, stopped: "k6 gave up", outcome: "harness-error", exitCode: 5 }),
  interrupted: loadRun({ ...unjudged, outcome: "interrupted", exitCode: 130 }),
} as const;
