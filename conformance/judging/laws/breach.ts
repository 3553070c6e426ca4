import { fail, pass, type CaseVerdict } from "../case-verdict.ts";

/** A broken promise: what was expected, and what was seen. Without `actual`, the answer itself shows what is wrong. */
export interface Breach {
  readonly expected: string;
  readonly actual?: string;
}

/** The verdict on a case. `described` is the answer in words, for breaches without `actual`. */
export const verdictOf = (breach: Breach | undefined, described: () => string): CaseVerdict =>
  breach === undefined ? pass : fail(breach.expected, breach.actual ?? described());
