import type { VerdictKind } from "../../conformance/contract/verdict.ts";

const words: Readonly<Record<VerdictKind, string>> = {
  passed: "passed",
  failed: "failed",
  warned: "warned",
  observed: "observed",
  pending: "pending",
  "not-applicable": "not applicable",
  "could-not-run": "could not run",
  inconclusive: "inconclusive",
  "harness-error": "harness error",
};

export const wordOf = (kind: VerdictKind): string => words[kind];

/** Verdicts in the order of totals: those that need attention come first. */
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

export const isVerdict = (text: string): text is VerdictKind => Object.hasOwn(words, text);
