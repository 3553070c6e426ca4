import type { LoadRecord, LoadRule, ObjectiveResult } from "../../conformance/contract/load-record.ts";
import { knownRequirement } from "../text/titles.ts";
import { elapsed, plural } from "../text/figures.ts";
import { inUnit } from "../text/units.ts";
import { safe } from "../text/safe.ts";
import type { CiCase } from "./case.ts";

/** All cases of a load are judged by the same run, so none has a separate time. */
const NO_TIME = 0;

export const loadCases = (record: LoadRecord): readonly CiCase[] => [
  validityCase(record),
  ...record.objectives.map(objectiveCase),
  ...record.rules.map((rule) => ruleCase(rule, record)),
];

const validityCase = ({ validity, outcome, stopped, notes }: LoadRecord): CiCase => {
  const common = { name: "the load run is valid", group: "load", durationMs: NO_TIME };
  if (validity?.valid === true)
    return {
      ...common,
      status: "passed",
      verdict: "valid",
      ...(stopped === undefined ? {} : { details: `ended before its time: ${safe(stopped)}` }),
    };
  const reasons = (validity?.reasons ?? []).map(({ reason, remedy }) => `${safe(reason)}: ${safe(remedy)}`);
  return {
    ...common,
    status: outcome === "harness-error" ? "error" : "skipped",
    verdict: "not valid",
    message: reasons[0] ?? notes.map(safe)[0] ?? "the run ended before it could be judged",
    ...(reasons.length < 2 ? {} : { details: reasons.join("\n") }),
  };
};

const objectiveCase = (one: ObjectiveResult): CiCase => {
  const limit = `${one.bound} ${inUnit(one.limit, one.unit)}`;
  const measured =
    one.measured === undefined ? "nothing measured" : `measured ${inUnit(one.measured, one.unit)}`;
  const interval =
    one.interval === undefined
      ? ""
      : ` (95 % interval ${inUnit(one.interval[0], one.unit)} to ${inUnit(one.interval[1], one.unit)})`;
  return {
    name: `objective ${safe(one.name)}`,
    group: "objectives",
    status: ({ held: "passed", breached: "failed", "not measured": "skipped" } as const)[one.verdict],
    verdict: one.verdict,
    durationMs: NO_TIME,
    message: `${limit}; ${measured}${interval}${one.reason === undefined ? "" : `; ${safe(one.reason)}`}`,
  };
};

const ruleCase = ({ id, checks, breaches, note }: LoadRule, record: LoadRecord): CiCase => {
  const first = record.breaches.find(({ rule }) => rule === id);
  const common = { name: `${safe(id)} under load`, group: "promises", durationMs: NO_TIME };
  if (breaches > 0)
    return {
      ...common,
      status: "failed",
      verdict: "failed",
      message: `broken ${plural(breaches, "time")} in ${plural(checks, "look")}${first === undefined ? "" : `: ${safe(first.actual)}`}`,
      details: [
        knownRequirement(id)?.sentence ?? "",
        ...(first === undefined
          ? []
          : [
              `expected: ${safe(first.expected)}`,
              `seen: ${safe(first.actual)}, first after ${elapsed(first.atMs)} of the load`,
            ]),
      ].join("\n"),
    };
  if (checks === 0)
    return {
      ...common,
      status: "skipped",
      verdict: "not looked at",
      message: note === undefined ? "not looked at in this scenario" : safe(note),
    };
  return { ...common, status: "passed", verdict: "held", details: plural(checks, "look") };
};
