import { whyOpen } from "../text/causes.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { drifted } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { knownRequirement, numbered, sectionsOf } from "../text/titles.ts";
import { cameBack } from "../text/breach.ts";
import { plural, shellWord, elapsed, inUnit } from "../text/figures.ts";
import { safe } from "../text/safe.ts";
import { activeWaivers, failingWaivers, waiverStateText, waiverText } from "../text/waivers.ts";
import { wordOf } from "../text/verdicts.ts";
import type { CiCase, CiRun, CiSuite } from "./case.ts";
import type { LoadRecord, LoadRule, ObjectiveResult } from "../../conformance/contract/load-record.ts";

export const suitesOf = (runs: readonly CiRun[], program: string): readonly CiSuite[] => {
  const names = runs.map(({ kind }) => (kind === "conform" ? "gate" : "load"));
  return runs.map((run, at) => {
    const { record } = run;
    const name = numbered(names, at);
    const outcome = record.outcome ?? "open";
    return {
      name,
      outcome,
      incomplete: outcome === "incomplete" || outcome === "open" || outcome === "interrupted",
      exitCode: record.exitCode,
      startedAt: record.startedAt,
      endedAt: record.endedAt,
      tool: record.tool,
      run: safe(run.run),
      target: safe(`${record.target.name} ${record.target.baseUrl}`),
      seed: record.seed,
      replacedLimits: record.replacedLimits.map(safe),
      cases: unique(
        run.kind === "conform"
          ? gateCases(run.record, run.run, { program, pinned: run.record.pinned ?? run.pinned ?? {} })
          : loadCases(run.record),
        name,
      ),
    };
  });
};

/**
 * Services match runs by names: a repeated name gets a number, and if there are several runs of one kind, their names
 * carry the number of the run.
 */
const unique = (cases: readonly CiCase[], suite: CiSuite["name"]): readonly CiCase[] => {
  const seen = new Map<string, number>();
  return cases.map((one) => {
    const count = (seen.get(one.name) ?? 0) + 1;
    seen.set(one.name, count);
    const name = count === 1 ? one.name : `${one.name} (${count})`;
    return { ...one, name: suite === "gate" || suite === "load" ? name : `${suite}: ${name}` };
  });
};

interface GateOptions {
  readonly program: string;
  readonly pinned: Readonly<Record<string, string>>;
}

const gateCases = (record: RunRecord, run: string, options: GateOptions): readonly CiCase[] => {
  const settled = new Set<string>(record.rules.map(({ id }) => id));
  const changed = new Set<string>(drifted(record.rules, options.pinned));
  return [
    ...record.rules.map((result) => gateCase(result, { ...options, run, record, changed })),
    ...record.selected
      .filter((id) => !settled.has(id))
      .map((id) => ({
        name: safe(id),
        group: safe(id.split(".")[0] ?? ""),
        status: "skipped" as const,
        verdict: "not reached",
        durationMs: 0,
        message: ["not reached before the run ended", ...whyUnreached(record)].join(": "),
      })),
    ...failingWaivers(record).map((waiver) => ({
      name: `waiver of ${safe(waiver.id)}`,
      group: "waivers",
      status: "failed" as const,
      verdict: waiver.state,
      durationMs: 0,
      message: waiverStateText(waiver),
      details: `waived ${waiverText(waiver)}`,
    })),
  ];
};

/** If a run could not start, its reason applies to every rule. */
const whyUnreached = ({ exitCode, notes }: RunRecord): readonly string[] =>
  exitCode === exitCodes.unreachable ? notes.slice(0, 1).map(safe) : [];

interface Context extends GateOptions {
  readonly run: string;
  readonly record: RunRecord;
  readonly changed: ReadonlySet<string>;
}

const gateCase = (result: RuleResult, context: Context): CiCase => {
  const { id, verdict, durationMs } = result;
  const common = { name: safe(id), group: safe(result.group), verdict: wordOf(verdict.kind), durationMs };
  switch (verdict.kind) {
    case "failed":
    case "warned": {
      const waiver = activeWaivers(context.record).get(id);
      if (waiver !== undefined)
        return {
          ...common,
          status: "skipped",
          verdict: "waived",
          message: `${common.verdict}, and waived ${waiverText(waiver)}`,
        };
      const fails = verdict.kind === "failed" || context.record.strict;
      return {
        ...common,
        status: fails ? "failed" : "passed",
        message: safe(verdict.breach.actual),
        details: breachText(result, verdict.breach, context),
      };
    }
    case "observed":
      return context.changed.has(id)
        ? {
            ...common,
            status: "failed",
            verdict: "drifted",
            message: "a pinned observation changed",
            details: `seen: ${safe(verdict.fingerprint)}\npinned: ${safe(context.pinned[id] ?? "")}`,
          }
        : { ...common, status: "passed", details: `seen: ${safe(verdict.fingerprint)}` };
    case "passed":
      return { ...common, status: "passed", details: plural(casesOf(verdict), "case") };
    case "harness-error":
      return { ...common, status: "error", message: safe(verdict.message) };
    default:
      return { ...common, status: "skipped", message: `${common.verdict}: ${whyOpen(verdict)}` };
  }
};

const breachText = (
  { id }: RuleResult,
  { expected, actual, part, reproduction }: Extract<RuleResult["verdict"], { breach: unknown }>["breach"],
  { program, run }: Context,
): string => {
  const known = knownRequirement(id);
  return [
    ...(known === undefined ? [] : [`${known.sentence} (${sectionsOf(known)})`]),
    ...(part === undefined ? [] : [`part: ${safe(part)}`]),
    `expected: ${safe(expected)}`,
    `seen: ${safe(actual)}`,
    ...(reproduction.counterexample === undefined ? [] : [`input: ${safe(reproduction.counterexample)}`]),
    `again: ${cameBack(id, reproduction.replayed)}`,
    `replay: ${program} replay ${shellWord(safe(run))} ${safe(id)}`,
  ].join("\n");
};

/** All cases of a load come from one run, so none has its own time. */
const NO_TIME = 0;

const loadCases = (record: LoadRecord): readonly CiCase[] => [
  validityCase(record),
  ...record.objectives.map(objectiveCase),
  ...record.rules.map((rule) => ruleCase(rule, record)),
];

const validityCase = ({ validity, outcome, stopped, notes }: LoadRecord): CiCase => {
  const common = { name: "the load run is valid", group: "load", durationMs: NO_TIME };
  if (outcome === "interrupted")
    return {
      ...common,
      status: "skipped",
      verdict: "interrupted",
      message: "the run was interrupted: objectives and rules cover only the time until then",
    };
  if (validity?.valid === true)
    return {
      ...common,
      status: "passed",
      verdict: "valid",
      ...(stopped === undefined ? {} : { details: `ended early: ${safe(stopped)}` }),
    };
  const reasons = (validity?.reasons ?? []).map(({ reason, remedy }) => `${safe(reason)}: ${safe(remedy)}`);
  return {
    ...common,
    status: outcome === "harness-error" ? "error" : "skipped",
    verdict: "not valid",
    message: reasons[0] ?? notes.map(safe)[0] ?? "the run ended before this could be judged",
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
      message: `broken ${plural(breaches, "time")} in ${plural(checks, "check")}${first === undefined ? "" : `: ${safe(first.actual)}`}`,
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
      verdict: "not checked",
      message: note === undefined ? "not checked in this scenario" : safe(note),
    };
  return { ...common, status: "passed", verdict: "held", details: plural(checks, "check") };
};
