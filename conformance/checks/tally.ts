import type { Facts, Verdict } from "../contract/verdict.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { CaseResult } from "./context.ts";

type Undecided = Extract<CaseVerdict, { readonly kind: "inconclusive" }>;

export interface Tally {
  decided: number;
  readonly inconclusive: Undecided[];
  /** Why the first case that says nothing does not. */
  discarded?: string;
  /** How often a case was repeated because an answer was lost. */
  repeated: number;
  /** Cases that ended for lack of an answer. */
  silent: number;
}

export const newTally = (): Tally => ({ decided: 0, inconclusive: [], repeated: 0, silent: 0 });

export const count = (tally: Tally, { judgement }: CaseResult): void => {
  if (judgement.kind === "inconclusive") tally.inconclusive.push(judgement);
  else if (judgement.kind === "discarded") tally.discarded ??= judgement.reason;
  else tally.decided += 1;
};

/** How often cases behind a verdict were repeated because an answer was lost. */
export const repeatedIn = (verdict: Verdict): number => {
  const repeated = "facts" in verdict ? verdict.facts?.["repeated"] : undefined;
  return typeof repeated === "number" ? repeated : 0;
};

export const factsOf = ({ repeated }: Tally, facts?: Facts): { facts?: Facts } => {
  const all = { ...facts, ...(repeated > 0 ? { repeated } : {}) };
  return Object.keys(all).length > 0 ? { facts: all } : {};
};

/** What settles a case whose control failed. */
export const EVERY_CONTROL = "a run in which every control succeeds";

/** The verdict of cases none of which failed: passed only if every one was decided, and there was at least one. */
export const unbroken = (tally: Tally, facts?: Facts): Verdict => {
  const { decided, inconclusive } = tally;
  const [first] = inconclusive;
  if (first !== undefined)
    return {
      kind: "inconclusive",
      reason: `${inconclusive.length} of ${inconclusive.length + decided} cases could not be decided: ${first.reason}`,
      settle: first.settle ?? EVERY_CONTROL,
      cases: decided,
      ...factsOf(tally, facts),
    };
  if (decided === 0)
    return {
      kind: "inconclusive",
      reason: `no case was judged${tally.discarded === undefined ? "" : `: ${tally.discarded}`}`,
      settle: "a run in which at least one case is judged",
      cases: 0,
      ...factsOf(tally, facts),
    };
  return { kind: "passed", cases: decided, ...factsOf(tally, facts) };
};

/** fast-check gave up without a breach: preconditions rejected too many generated values. */
export const exhausted = ({ decided }: Tally): Verdict => ({
  kind: "inconclusive",
  reason: "too few of the generated values could be judged",
  settle: "another --seed",
  cases: decided,
});
