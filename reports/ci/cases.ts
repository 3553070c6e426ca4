import { whyOpen } from "../text/causes.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { drifted } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf, type Breach } from "../../conformance/contract/verdict.ts";
import type { RecordedGate, RecordedRun } from "../read/index.ts";
import { knownRequirement, numbered, sectionsOf } from "../text/titles.ts";
import { cameBack } from "../text/breach.ts";
import { plural, shellWord, elapsed, inUnit } from "../text/figures.ts";
import { activeWaivers, failingWaivers, waiverStateText, waiverText } from "../text/waivers.ts";
import { rampAnswer, wordOf } from "../text/verdicts.ts";
import { whyIncomplete } from "../validity.ts";
import { suiteOf, type CiSuite, type RawCase } from "./case.ts";
import type { LoadRecord, LoadRule, ObjectiveResult } from "../../conformance/contract/load-record.ts";

export const suitesOf = (runs: readonly RecordedRun[], program: string): readonly CiSuite[] => {
  const names = runs.map(({ kind }) => (kind === "conform" ? "gate" : "load"));
  return runs.map((run, at) => {
    const { exitCode, startedAt, endedAt, tool, target, seed, replacedLimits, ...record } = run.record;
    return suiteOf({
      name: numbered(names, at),
      outcome: record.outcome ?? "open",
      incomplete: whyIncomplete(run),
      exitCode,
      startedAt,
      endedAt,
      tool,
      run: run.directory,
      target: `${target.name} ${target.baseUrl}`,
      seed,
      replacedLimits,
      cases: run.kind === "conform" ? gateCases(run, program) : loadCases(run.record),
    });
  });
};

const gateCases = (run: RecordedGate, program: string): readonly RawCase[] => {
  const { record } = run;
  const settled = new Set<string>(record.rules.map(({ id }) => id));
  return [
    ...record.rules.map((result) => gateCase(result, run, program)),
    ...record.selected
      .filter((id) => !settled.has(id))
      .map((id) => ({
        name: id,
        group: id.split(".")[0] ?? "",
        status: "skipped" as const,
        verdict: "not reached",
        message: ["not reached before the run ended", ...whyUnreached(record)].join(": "),
      })),
    ...failingWaivers(record).map((waiver) => ({
      name: `waiver of ${waiver.id}`,
      group: "waivers",
      status: "failed" as const,
      verdict: waiver.state,
      message: waiverStateText(waiver),
      details: [`waived ${waiverText(waiver)}`],
    })),
  ];
};

/** If a run could not start, its reason applies to every rule. */
const whyUnreached = ({ exitCode, notes }: RunRecord): readonly string[] =>
  exitCode === exitCodes.unreachable ? notes.slice(0, 1) : [];

const gateCase = (result: RuleResult, { record, directory }: RecordedGate, program: string): RawCase => {
  const { id, group, verdict, durationMs } = result;
  const common = { name: id, group, verdict: wordOf(verdict.kind), durationMs };
  switch (verdict.kind) {
    case "failed":
    case "warned": {
      const waiver = activeWaivers(record).get(id);
      if (waiver !== undefined) {
        const message = `${common.verdict}, and waived ${waiverText(waiver)}`;
        return { ...common, status: "skipped", verdict: "waived", message };
      }
      return {
        ...common,
        status: verdict.kind === "failed" || record.strict ? "failed" : "passed",
        message: verdict.breach.actual,
        details: [
          ...breachLines(id, verdict.breach),
          `replay: ${program} replay ${shellWord(directory)} ${id}`,
        ],
      };
    }
    case "observed": {
      const { pinned } = record;
      const seen = `seen: ${verdict.fingerprint}`;
      if (drifted([result], pinned).length === 0) return { ...common, status: "passed", details: [seen] };
      return {
        ...common,
        status: "failed",
        verdict: "drifted",
        message: "a pinned observation changed",
        details: [seen, `pinned: ${pinned[id]}`],
      };
    }
    case "passed":
      return { ...common, status: "passed", details: [plural(casesOf(verdict), "case")] };
    case "harness-error":
      return { ...common, status: "error", message: verdict.message };
    default:
      return { ...common, status: "skipped", message: `${common.verdict}: ${whyOpen(verdict)}` };
  }
};

const breachLines = (id: string, { expected, actual, part, reproduction }: Breach) => {
  const known = knownRequirement(id);
  const { counterexample, replayed } = reproduction;
  return [
    known && `${known.sentence} (${sectionsOf(known)})`,
    part !== undefined && `part: ${part}`,
    `expected: ${expected}`,
    `seen: ${actual}`,
    counterexample !== undefined && `input: ${counterexample}`,
    `again: ${cameBack(id, replayed)}`,
  ];
};

const loadCases = (record: LoadRecord): readonly RawCase[] => [
  validityCase(record),
  ...endCases(record),
  ...record.objectives.map((objective) => objectiveCase(objective, record)),
  ...record.rules.map((rule) => ruleCase(rule, record)),
];

const validityCase = ({ validity, outcome, notes }: LoadRecord): RawCase => {
  const common = { name: "the load run is valid", group: "load" };
  if (outcome === "interrupted")
    return {
      ...common,
      status: "skipped",
      verdict: "interrupted",
      message: "the run was interrupted: objectives and rules cover only the time until then",
    };
  if (validity?.valid === true && outcome !== "harness-error")
    return { ...common, status: "passed", verdict: "valid" };
  const reasons = (validity?.reasons ?? []).map(({ reason, remedy }) => `${reason}: ${remedy}`);
  return {
    ...common,
    status: outcome === "harness-error" ? "error" : "skipped",
    verdict: "not valid",
    message: reasons[0] ?? notes[0] ?? "the run ended before this could be judged",
    ...(reasons.length > 1 && { details: reasons }),
  };
};

/** What failed a load, or left it open, without any objective or rule. */
const endCases = (record: LoadRecord): readonly RawCase[] => {
  const { outcome, stopped, rules } = record;
  const isBroken = rules.some(({ breaches }) => breaches > 0);
  const hasFailed = outcome === "failed" && !isBroken;
  const common = { group: "load", status: hasFailed ? "failed" : "skipped" } as const;
  if (stopped !== undefined && outcome !== "interrupted")
    return [{ ...common, name: "the load ran to its end", verdict: "ended early", message: stopped }];
  const message = rampAnswer(record);
  return message === undefined || outcome === "interrupted"
    ? []
    : [
        {
          ...common,
          name: "the ramp found a rate",
          status: outcome === "passed" ? "passed" : common.status,
          verdict: outcome === "passed" ? "found" : "not found",
          message,
        },
      ];
};

const objectiveStatus = { held: "passed", breached: "failed", "not measured": "skipped" } as const;

const objectiveCase = (
  { name, bound, limit, unit, measured, interval, reason, verdict }: ObjectiveResult,
  { outcome }: Pick<LoadRecord, "outcome">,
): RawCase => {
  // What an incomplete load missed may be its own machine's doing.
  const isOpen = verdict === "breached" && outcome === "incomplete";
  const between = interval && ` (95 % interval ${interval.map((value) => inUnit(value, unit)).join(" to ")})`;
  const seen = measured === undefined ? "nothing measured" : `measured ${inUnit(measured, unit)}`;
  return {
    name: `objective ${name}`,
    group: "objectives",
    status: isOpen ? "skipped" : objectiveStatus[verdict],
    verdict,
    message: `${bound} ${inUnit(limit, unit)}; ${seen}${between ?? ""}${reason === undefined ? "" : `; ${reason}`}`,
  };
};

const ruleCase = ({ id, checks, breaches, note }: LoadRule, record: LoadRecord): RawCase => {
  const first = record.breaches.find(({ rule }) => rule === id);
  const common = { name: `${id} under load`, group: "promises" };
  if (breaches > 0)
    return {
      ...common,
      status: "failed",
      verdict: "failed",
      message: `broken ${plural(breaches, "time")} in ${plural(checks, "check")}${first === undefined ? "" : `: ${first.actual}`}`,
      details: [
        knownRequirement(id)?.sentence ?? "",
        first && `expected: ${first.expected}`,
        first && `seen: ${first.actual}, first after ${elapsed(first.atMs)} of the load`,
      ],
    };
  return checks === 0
    ? {
        ...common,
        status: "skipped",
        verdict: "not checked",
        message: note ?? "not checked in this scenario",
      }
    : { ...common, status: "passed", verdict: "held", details: [plural(checks, "check")] };
};
