import { whyOpen } from "../text/causes.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { drifted } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf, type Breach } from "../../conformance/contract/verdict.ts";
import type { RecordedGate, RecordedRun } from "../read/index.ts";
import {
  requirementOf,
  numbered,
  sectionsOf,
  activeWaivers,
  failingWaivers,
  waiverStateText,
  waiverText,
  rampAnswer,
  wordOf,
} from "../text/verdicts.ts";
import { cameBack, inputOf, sendLines } from "../text/breach.ts";
import { plural, shellWord, elapsed, inUnit } from "../text/figures.ts";
import { given } from "../document/model.ts";
import { whyIncomplete } from "../validity.ts";
import type { LoadRecord, LoadRule, ObjectiveResult } from "../../conformance/contract/load-record.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

/** One judged item, in terms that every CI service knows. All texts are safe to print. */
export interface CiCase {
  /** Unique within the report. */
  readonly name: string;
  readonly group: string;
  /** `error` is a fault of Touchstone; `skipped` was not judged, so it is never a pass. */
  readonly status: "passed" | "failed" | "error" | "skipped";
  readonly verdict: string;
  readonly durationMs: number;
  /** One line: what was seen, or why nothing was. */
  readonly message?: string | undefined;
  readonly details?: string | undefined;
}

export interface CiSuite {
  /** For example "gate", "load 2" or "comparison". */
  readonly name: string;
  /** The outcome of a run, or the verdict of a comparison. */
  readonly outcome: string;
  /** Why it is no pass, whatever its cases say; undefined if it is complete. */
  readonly incomplete: string | undefined;
  readonly exitCode: number | undefined;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly tool: string;
  readonly run: string;
  readonly target: string;
  readonly seed?: number | undefined;
  readonly replacedLimits: readonly string[];
  readonly cases: readonly CiCase[];
}

/** A case as it is judged, with raw texts. */
export interface RawCase extends Omit<CiCase, "durationMs" | "details"> {
  /** Absent if it has no time of its own, as in a load. */
  readonly durationMs?: number;
  /** Lines. */
  readonly details?: readonly (string | false | undefined)[];
}

/**
 * A suite with all texts made safe. Services match runs by names: a repeated name gets a number, and if there are several
 * runs of one kind, their names carry the number of the run.
 */
export const suiteOf = ({
  cases,
  replacedLimits = [],
  ...suite
}: Omit<CiSuite, "cases" | "replacedLimits"> & {
  readonly replacedLimits?: readonly string[];
  readonly cases: readonly RawCase[];
}): CiSuite => {
  const seen = new Map<string, number>();
  const uniqueName = (name: string): string => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const numbered = count === 1 ? name : `${name} (${count})`;
    return / \d+$/.test(suite.name) ? `${suite.name}: ${numbered}` : numbered;
  };
  return {
    ...suite,
    incomplete: suite.incomplete && harmless(suite.incomplete),
    run: harmless(suite.run),
    target: harmless(suite.target),
    replacedLimits: replacedLimits.map(harmless),
    cases: cases.map(({ name, group, status, verdict, durationMs = 0, message, details }) => ({
      name: uniqueName(harmless(name)),
      group: harmless(group),
      status,
      verdict,
      durationMs,
      message: message && harmless(message),
      details: details && given(details).map(harmless).join("\n"),
    })),
  };
};

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
          ...sendLines(verdict.facts),
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
  const known = requirementOf(id);
  const { counterexample, replayed } = reproduction;
  return [
    `${known.sentence} (${sectionsOf(known)})`,
    part !== undefined && `part: ${part}`,
    `expected: ${expected}`,
    `seen: ${actual}`,
    counterexample !== undefined && `${inputOf(id)}: ${counterexample}`,
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
        requirementOf(id).sentence,
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
