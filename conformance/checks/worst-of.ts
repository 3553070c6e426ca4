import type { Verdict } from "../contract/verdict.ts";

const severity = {
  failed: 0,
  "harness-error": 1,
  "could-not-run": 2,
  inconclusive: 3,
  pending: 4,
  "not-applicable": 5,
  warned: 6,
  observed: 7,
  passed: 8,
} as const satisfies Record<Verdict["kind"], number>;

export const worstOf = (verdicts: readonly Verdict[]): Verdict => {
  const worst = verdicts.toSorted((a, b) => severity[a.kind] - severity[b.kind])[0];
  if (worst === undefined) throw new Error("a rule needs at least one part");
  if (!("cases" in worst)) return worst;
  const cases = verdicts.reduce((sum, verdict) => sum + ("cases" in verdict ? verdict.cases : 0), 0);
  const facts = Object.assign(
    {},
    ...[...verdicts, worst].map((verdict) => ("facts" in verdict ? verdict.facts : undefined)),
  ) as Record<string, unknown>;
  const repeated = verdicts.reduce((sum, verdict) => sum + repeatedIn(verdict), 0);
  if (repeated > 0) facts["repeated"] = repeated;
  return { ...worst, cases, ...(Object.keys(facts).length > 0 ? { facts } : {}) };
};

/** How often cases behind a verdict were repeated because an answer was lost. */
export const repeatedIn = (verdict: Verdict): number => {
  const repeated = "facts" in verdict ? verdict.facts?.["repeated"] : undefined;
  return typeof repeated === "number" ? repeated : 0;
};
