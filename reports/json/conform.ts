import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf, type Breach, type Facts, type VerdictKind } from "../../conformance/contract/verdict.ts";

export interface RuleDocument extends Pick<RuleResult, "id" | "level" | "group" | "durationMs"> {
  readonly verdict: VerdictKind;
  readonly cases: number;
  readonly breach?: Breach;
  readonly facts?: Facts;
  /** Canonical JSON, suitable for pinning. */
  readonly fingerprint?: string;
  readonly reason?: string;
  readonly missing?: string;
  readonly settle?: string;
  readonly due?: string;
}

/** A run as one JSON value; histories stay in the run directory. */
export const conformDocument = (record: RunRecord, run: string) => ({
  // Open: a run that was cut off.
  outcome: record.outcome ?? ("open" as const),
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
  settings: record.settings,
  notes: record.notes,
  waivers: record.waivers,
  ...(record.leftBehind && { leftBehind: record.leftBehind }),
  totals: totalsOf(record.rules),
  rules: record.rules.map(ruleDocument),
});

export type ConformDocument = ReturnType<typeof conformDocument>;

const ruleDocument = ({ id, level, group, verdict, durationMs }: RuleResult): RuleDocument => {
  const { kind, ...rest } = verdict;
  const common = { id, level, group, verdict: kind, cases: casesOf(verdict), durationMs };
  // The record has the stack of a harness error, which matters only to Touchstone's developers.
  if (verdict.kind === "harness-error") return { ...common, reason: verdict.message };
  return { ...common, ...rest };
};

/** Rules by verdict, and the cases of all of them. */
const totalsOf = (results: readonly RuleResult[]) => {
  const counts: Partial<Record<VerdictKind, number>> = {};
  for (const { verdict } of results) counts[verdict.kind] = (counts[verdict.kind] ?? 0) + 1;
  return {
    rules: results.length,
    cases: results.reduce((sum, { verdict }) => sum + casesOf(verdict), 0),
    ...counts,
  };
};
