import type { VerdictKind } from "../../conformance/contract/verdict.ts";

/** A mark and a word for each verdict: reports never tell verdicts apart by colour alone. */
const looks: Readonly<Record<VerdictKind, { readonly symbol: string; readonly word: string }>> = {
  passed: { symbol: "✓", word: "passed" },
  failed: { symbol: "✗", word: "failed" },
  warned: { symbol: "!", word: "warned" },
  observed: { symbol: "○", word: "observed" },
  pending: { symbol: "…", word: "pending" },
  "not-applicable": { symbol: "–", word: "not applicable" },
  "could-not-run": { symbol: "–", word: "could not run" },
  inconclusive: { symbol: "?", word: "inconclusive" },
  "harness-error": { symbol: "#", word: "harness error" },
};

export const plainSymbolOf = (kind: VerdictKind): string => looks[kind].symbol;
export const wordOf = (kind: VerdictKind): string => looks[kind].word;

/** Verdicts in the order in which totals name them: what needs attention comes first. */
export const verdictOrder = [
  "failed",
  "harness-error",
  "warned",
  "inconclusive",
  "could-not-run",
  "pending",
  "not-applicable",
  "observed",
  "passed",
] as const satisfies readonly VerdictKind[];

export const isVerdict = (text: string): text is VerdictKind => Object.hasOwn(looks, text);
