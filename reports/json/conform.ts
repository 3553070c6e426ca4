import type { LeftBehind } from "../../conformance/contract/left-behind.ts";
import type { Outcome, RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import type { AppliedWaiver } from "../../conformance/contract/waivers.ts";
import { casesOf, type Breach, type Facts, type VerdictKind } from "../../conformance/contract/verdict.ts";

export interface RuleDocument extends Pick<RuleResult, "id" | "level" | "group" | "durationMs"> {
  readonly verdict: VerdictKind;
  readonly cases: number;
  readonly breach?: Breach;
  readonly facts?: Facts;
  /** Canonical JSON, as it may be pinned. */
  readonly fingerprint?: string;
  readonly reason?: string;
  readonly missing?: string;
  readonly settle?: string;
  readonly due?: string;
}

export interface ConformDocument extends Pick<RunRecord, "seed" | "effort" | "strict" | "target" | "limits"> {
  /** "open" for a run that was cut off. */
  readonly outcome: Outcome | "open";
  readonly exitCode: number | null;
  readonly run: string;
  readonly rules: readonly RuleDocument[];
  readonly replacedLimits: readonly string[];
  readonly notes: readonly string[];
  readonly waivers: readonly AppliedWaiver[];
  /** What the run has left on its target; undefined for a run that did not come to its end. */
  readonly leftBehind?: LeftBehind;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Rules by verdict, and the cases of all of them. */
  readonly totals: Readonly<Partial<Record<VerdictKind, number>>> & {
    readonly rules: number;
    readonly cases: number;
  };
}

/** A run as one JSON value; histories stay in the run directory. */
export const conformDocument = (record: RunRecord, run: string): ConformDocument => ({
  outcome: record.outcome ?? "open",
  exitCode: record.exitCode ?? null,
  seed: record.seed,
  run,
  effort: record.effort,
  strict: record.strict,
  startedAt: record.startedAt,
  endedAt: record.endedAt ?? null,
  target: record.target,
  limits: record.limits,
  replacedLimits: record.replacedLimits,
  notes: record.notes,
  waivers: record.waivers ?? [],
  ...(record.leftBehind === undefined ? {} : { leftBehind: record.leftBehind }),
  totals: totalsOf(record.rules),
  rules: record.rules.map(ruleDocument),
});

const ruleDocument = ({ id, level, group, verdict, durationMs }: RuleResult): RuleDocument => {
  const { kind, ...rest } = verdict;
  const common = { id, level, group, verdict: kind, cases: casesOf(verdict), durationMs };
  // The stack of a harness error is in the record; it matters only to those who work on Touchstone.
  if (verdict.kind === "harness-error") return { ...common, reason: verdict.message };
  return { ...common, ...rest };
};

const totalsOf = (results: readonly RuleResult[]): ConformDocument["totals"] => {
  const counts: Partial<Record<VerdictKind, number>> = {};
  for (const { verdict } of results) counts[verdict.kind] = (counts[verdict.kind] ?? 0) + 1;
  return {
    rules: results.length,
    cases: results.reduce((sum, { verdict }) => sum + casesOf(verdict), 0),
    ...counts,
  };
};
