import { drifted } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { knownRequirement, sectionsOf } from "../text/titles.ts";
import { cameBack } from "../text/breach.ts";
import { plural, shellWord } from "../text/figures.ts";
import { safe } from "../text/safe.ts";
import { activeWaivers, failingWaivers, waiverStateText, waiverText } from "../text/waivers.ts";
import { wordOf } from "../text/verdicts.ts";
import type { CiCase, CiRun, CiSuite } from "./case.ts";
import { loadCases } from "./load-cases.ts";

export const suitesOf = (runs: readonly CiRun[], program: string): readonly CiSuite[] =>
  runs.map((run, at) => {
    const { record } = run;
    const name = nameOf(runs, at);
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

/** "gate", or "gate 2" where there are several. */
const nameOf = (runs: readonly CiRun[], at: number): CiSuite["name"] => {
  const kind = runs[at]?.kind;
  const name = kind === "conform" ? "gate" : "load";
  const count = (some: readonly CiRun[]): number => some.filter((run) => run.kind === kind).length;
  return count(runs) === 1 ? name : `${name} ${count(runs.slice(0, at + 1))}`;
};

/** Services join runs by names: a name that comes twice gets a number, and those of several runs of one kind get the number of the run. */
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
        message: "not reached before the run ended",
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
      return { ...common, status: "skipped", message: whyNot(verdict) };
  }
};

type Unjudged = Extract<RuleResult["verdict"], { readonly reason: string }>;

const whyNot = (verdict: Unjudged): string => {
  const why = `${wordOf(verdict.kind)}: ${safe(verdict.reason)}`;
  if (verdict.kind === "could-not-run") return `${why}; ${safe(verdict.missing)} is missing`;
  if (verdict.kind === "inconclusive") return `${why}; to settle it: ${safe(verdict.settle)}`;
  return verdict.kind === "pending" ? `${why}; due ${safe(verdict.due)}` : why;
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
    `again: ${cameBack(reproduction.replayed)}`,
    `replay: ${program} replay ${shellWord(safe(run))} ${safe(id)}`,
  ].join("\n");
};
