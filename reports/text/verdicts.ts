import type { VerdictKind } from "../../conformance/contract/verdict.ts";

/** Verdicts in the order of totals: those that need attention come first. */
export const verdictOrder = Object.keys({
  failed: true,
  "harness-error": true,
  warned: true,
  inconclusive: true,
  "could-not-run": true,
  pending: true,
  "not-applicable": true,
  observed: true,
  passed: true,
} satisfies Record<VerdictKind, true>) as readonly VerdictKind[];

export const wordOf = (kind: VerdictKind): string => kind.replaceAll("-", " ");

/** The same for one of two runs, which may have no result. */
export const wordOfResult = (kind: VerdictKind | undefined): string =>
  kind === undefined ? "no result" : wordOf(kind);

export const isVerdict = (text: string): text is VerdictKind => verdictOrder.some((kind) => kind === text);
