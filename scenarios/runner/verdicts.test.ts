import { expect, it } from "vitest";
import type { SecondLine } from "../../conformance/contract/load-record.ts";
import { latenciesOf } from "../../conformance/contract/distribution.ts";
import { latencyHistogram } from "./collect/histograms.ts";
import { createAbortWatch, busyNotes, causeNotes, judgedOutcome } from "./judge/validity.ts";
import { endOf } from "./k6/exit.ts";
import { earlyOutcome, outcomeOf, waiverNotes, scenarioRules, withUnchecked } from "./verdicts.ts";

const none = { count: 0, first: [] };

it("a service too slow for the set-up leaves the load incomplete, and is no fault of the harness", () => {
  const outcomeAfter = (exitCode: number) => {
    const end = endOf(exitCode, null, false);
    return earlyOutcome({ end, stopped: `k6 ${end.meaning}`, exceptions: none }, false);
  };
  expect(outcomeAfter(100)).toBe("incomplete");
  expect(outcomeAfter(107)).toBe("harness-error");
});

it("a load that was given up because of the hook of events is incomplete, and no fault of the service", () => {
  const failing = { trigger: { granted: 0, refused: 0, failed: 9 } };
  const stoppedBy = (requests: SecondLine["requests"]) =>
    createAbortWatch({ errorShare: 0.5, seconds: 1 })({ asked: 9, requests }) ?? "";
  const outcomeAfter = (stopped: string) =>
    earlyOutcome({ end: endOf(105, null, true), stopped, exceptions: none }, false);
  expect(outcomeAfter(stoppedBy(failing))).toBe("incomplete");
  expect(outcomeAfter(stoppedBy({ list: failing.trigger }))).toBe("failed");
});

it("a rule that met only what it could not decide leaves the load incomplete, and one that met nothing does not", () => {
  const checked = { id: "push.delivered", checks: 200, breaches: 0 };
  const outcomeWith = (open: number | undefined, more = {}) =>
    judgedOutcome({
      rules: [
        checked,
        { id: "push.acknowledged-stops", checks: 0, breaches: 0, ...(open && { open }), ...more },
      ],
      objectives: [],
      validity: { valid: true, reasons: [] },
      achieved: {},
    });
  expect(outcomeWith(undefined)).toBe("passed");
  expect(outcomeWith(200)).toBe("incomplete");
  expect(outcomeWith(200, { checks: 1 })).toBe("passed");
});

it.each<[string, heldTo: number, achieved: object, string]>([
  ["after all held passes", 60, {}, "passed"],
  ["from the first rate on fails", 0, {}, "failed"],
  ["on a machine without CPU to spare is undecided", 60, { machineIdle: 0.01 }, "incomplete"],
])("a ramp in which an objective gives way %s", (_, heldTo, achieved, outcome) => {
  const gaveWay = { name: "list p95", limit: 500, unit: "ms", bound: "at most", measured: 900 } as const;
  const missed = { ...gaveWay, verdict: "breached" as const };
  const objectives = [missed];
  const judged = {
    rules: [{ id: "access.required", checks: 1, breaches: 0 }],
    objectives,
    validity: { valid: true, reasons: [] },
    achieved,
  };
  const found = { heldTo, endedAt: heldTo + 2, gaveWay: missed };
  const ramp = { found, objectives, atEnd: {} };
  const ended = { end: endOf(105, null, true), exceptions: none };
  expect(outcomeOf(judged, ended, { isInterrupted: false, ramp })).toBe(outcome);
});

it.each<[string, number | undefined, number | undefined, string]>([
  ["on a machine with idle time", 0.4, 20, "failed"],
  ["on one whose idle time is unknown", undefined, undefined, "failed"],
  ["on a busy one of which nothing else is known", 0.01, undefined, "incomplete"],
  ["on a busy one that began iterations late", 0.01, 150, "incomplete"],
  ["on a busy one that began them in time", 0.01, 20, "failed"],
])("a p95 of 900 ms instead of 500 ms %s", (_, machineIdle, lag, outcome) => {
  const objective = { name: "list p95", limit: 500, unit: "ms", bound: "at most", measured: 900 } as const;
  const achieved = {
    ...(machineIdle === undefined ? {} : { machineIdle }),
    ...(lag === undefined ? {} : { lag: { ...latenciesOf(latencyHistogram()), p99Ms: lag } }),
  };
  const judged = {
    rules: [{ id: "code.single-use", checks: 9, breaches: 0 }],
    objectives: [{ ...objective, verdict: "breached" }],
    validity: { valid: true, reasons: [] },
    achieved,
  } as const;
  expect(judgedOutcome(judged)).toBe(outcome);
  expect(busyNotes(judged).join("")).toMatch(
    outcome === "failed" ? /^$/ : /^list p95 missed, .*\(1 % .* cannot be told/,
  );
  const errors = { ...objective, name: "list errors", unit: "share", verdict: "breached" } as const;
  expect(judgedOutcome({ ...judged, objectives: [errors] })).toBe("failed");
});

it("a code that was issued twice explains a refused exchange", () => {
  const broken = (id: string, breaches: number) => ({ id, checks: 9, breaches });
  const notesOn = (fresh: number, used: number) =>
    causeNotes([broken("authorize.code-is-fresh", fresh), broken("code.single-use", used)]);
  expect(notesOn(2, 2)).toHaveLength(1);
  expect([...notesOn(0, 2), ...notesOn(2, 0)]).toEqual([]);
});

it("a broken rule that is waived in the gate is told apart", () => {
  const waiver = { id: "code.single-use", reason: "known", owner: "us", expires: "2030-01-01" };
  const notesOn = (breaches: number) =>
    waiverNotes([{ id: "code.single-use", checks: 9, breaches }], [waiver]);
  expect(notesOn(2)).toEqual([
    "code.single-use is waived in the profile, which excuses it in the gate only, not under load",
  ]);
  expect(notesOn(0)).toEqual([]);
});

it("rules that nothing checked are in the list of a load, and named in a note", () => {
  const checked = scenarioRules.push
    .filter((id) => id !== "push.schedule" && id !== "push.cap")
    .map((id) => ({ id, checks: 3, breaches: 0 }));
  const rules = [{ id: "push.cap", checks: 0, breaches: 0, note: "why" }, ...checked];
  expect(withUnchecked("push", rules)).toEqual({
    rules: [...rules, { id: "push.schedule", checks: 0, breaches: 0 }],
    notes: ["not checked, though the scenario push can check it: push.cap, push.schedule"],
  });
  const all = scenarioRules.push.map((id) => ({ id, checks: 1, breaches: 0 }));
  expect(withUnchecked("push", all)).toEqual({ rules: all, notes: [] });
});
