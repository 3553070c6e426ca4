export type CaseVerdict =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      readonly expected: string;
      readonly actual: string;
      /**
       * Numbers of the exchanges that decide it, and of those that brought about the state in which they do; what issued
       * their credentials is added. Absent means all exchanges of the case.
       */
      readonly shownBy?: readonly number[];
      /** What broke it, of a case that tries several inputs in turn; absent means the whole case. */
      readonly input?: string;
    }
  | {
      readonly kind: "inconclusive";
      readonly reason: string;
      /** What would settle it; absent means that a control must succeed. */
      readonly settle?: string;
    }
  | { readonly kind: "discarded"; readonly reason: string };

export const pass: CaseVerdict = { kind: "passed" };

/** The promise was broken: what was expected and what was seen, as sentences without credentials. */
export const fail = (expected: string, actual: string, shownBy?: readonly number[]): CaseVerdict => ({
  kind: "failed",
  expected,
  actual,
  ...(shownBy === undefined ? {} : { shownBy }),
});

/** The same verdict; if it is a breach, these exchanges show it. */
export const shownBy = (exchanges: readonly number[], verdict: CaseVerdict): CaseVerdict =>
  verdict.kind === "failed" ? { ...verdict, shownBy: exchanges } : verdict;

/** The same verdict; if it is a breach, this input of the case broke it. */
export const brokenBy = (input: string, verdict: CaseVerdict): CaseVerdict =>
  verdict.kind === "failed" ? { ...verdict, input } : verdict;

export const inconclusive = (reason: string, settle?: string): CaseVerdict => ({
  kind: "inconclusive",
  reason,
  ...(settle === undefined ? {} : { settle }),
});

/** The case tested nothing, for example because a probe fell inside the guard around a boundary. It counts neither way. */
export const discard = (reason: string): CaseVerdict => ({ kind: "discarded", reason });

/** Passed if the condition holds, otherwise failed as described. */
export const expectThat = (
  condition: boolean,
  expected: string,
  actual: string | (() => string),
): CaseVerdict => (condition ? pass : fail(expected, typeof actual === "string" ? actual : actual()));

/** The first judgement of the gravest kind: failed, then inconclusive, then discarded, then passed. */
export const allHold = (judgements: readonly CaseVerdict[]): CaseVerdict =>
  judgements.find(({ kind }) => kind === "failed") ??
  judgements.find(({ kind }) => kind === "inconclusive") ??
  judgements.find(({ kind }) => kind !== "passed") ??
  pass;
