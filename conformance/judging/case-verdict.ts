export type CaseVerdict =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      readonly expected: string;
      readonly actual: string;
      /** Numbers of the exchanges that show it, where most of the case's have no part in it; all of them if absent. */
      readonly shownBy?: readonly number[];
    }
  | { readonly kind: "inconclusive"; readonly reason: string }
  | { readonly kind: "discarded"; readonly reason: string };

export const pass: CaseVerdict = { kind: "passed" };

/** The promise was broken: what it demands, and what was seen instead. Both are sentences without credentials. */
export const fail = (expected: string, actual: string, shownBy?: readonly number[]): CaseVerdict => ({
  kind: "failed",
  expected,
  actual,
  ...(shownBy === undefined ? {} : { shownBy }),
});

export const inconclusive = (reason: string): CaseVerdict => ({ kind: "inconclusive", reason });

/** The case turned out to ask nothing (a probe that fell into the guard around a boundary). It is neither counted nor held against the rule. */
export const discard = (reason: string): CaseVerdict => ({ kind: "discarded", reason });

/** `held` where the condition is true, otherwise broken as described. */
export const expectThat = (
  condition: boolean,
  expected: string,
  actual: string | (() => string),
): CaseVerdict => (condition ? pass : fail(expected, typeof actual === "string" ? actual : actual()));

/** The first judgement of the gravest kind: a breach before anything undecided, and that before what was set aside. */
export const allHold = (judgements: readonly CaseVerdict[]): CaseVerdict =>
  judgements.find(({ kind }) => kind === "failed") ??
  judgements.find(({ kind }) => kind === "inconclusive") ??
  judgements.find(({ kind }) => kind !== "passed") ??
  pass;
