import type { ExchangeRecord } from "../contract/record.ts";
import type { Scope } from "../world/evidence/journal.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { World } from "../world/world.ts";
import type { ClientIndex } from "./client-assignment.ts";
import type { Effort } from "./effort.ts";
import type { Facts, Verdict } from "../contract/verdict.ts";

export interface RunContext {
  readonly rule: string;
  readonly effort: Effort;
  readonly seed: number;
  readonly signal: AbortSignal;
  /**
   * How many smaller inputs are tried for a failing one, and for how long at most, in real milliseconds. A slow machine
   * must not make a proof longer, so the time is only there for targets that take seconds for each try.
   */
  readonly shrinking: { readonly tries: number; readonly mostMs: number };
  /** Judges in the world of one case: what it sends is recorded in the scope, and time waits for it. */
  readonly inWorld: (
    scope: Scope,
    judge: (world: World) => Promise<CaseVerdict>,
    clientIndex: ClientIndex,
  ) => Promise<CaseVerdict>;
  /** Does something once what is played together is over, while nothing else is played. */
  readonly alone: <T>(task: (context: RunContext) => Promise<T>) => Promise<T>;
  /** Whether what is judged rests on time that runs meanwhile: then a breach counts only if it shows again, alone. */
  readonly restsOnTime?: () => boolean;
  /** If there is a second client: whether cases take turns with it, or only those that ask for it. */
  readonly secondClient?: "in turn" | "where asked for";
  /** How many cases of one part start concurrently. */
  readonly casesAtATime: number;
  /** Waits a moment after a case that lost an answer, longer each time; returns whether the target answers a plain request. */
  readonly recover: (tries: number) => Promise<boolean>;
  /**
   * How often clients were locked out so far: what was played meanwhile says nothing. And how often refused requests had to
   * be spaced: what did not pass meanwhile may have come too late.
   */
  readonly spacing: () => { readonly lockouts: number; readonly rests: number };
  readonly keep: (exchanges: readonly ExchangeRecord[]) => void;
  /**
   * Set if one breach settles the rule: once it is seen nothing further is judged, so the breach is neither shrunk nor
   * replayed.
   */
  readonly untilBreach?: { isSeen: boolean };
  /** Replays fast-check from here, the path of an earlier counterexample. */
  readonly path?: { readonly part: string | undefined; readonly path: string };
}

export interface CaseResult {
  readonly clientIndex: ClientIndex;
  readonly judgement: CaseVerdict;
  readonly scope: Scope;
}

/** Interrupted by Ctrl-C: the rule says nothing. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  override readonly message = "interrupted";
}

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
  /** Requests that were shown to get no answer, though others do: a case that misses only theirs is not played again. */
  readonly unanswered: Set<string>;
}

export const newTally = (): Tally => ({
  decided: 0,
  inconclusive: [],
  repeated: 0,
  silent: 0,
  unanswered: new Set(),
});

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

/** What is needed where a control failed. */
export const EVERY_CONTROL = "that this request succeeds, because what is judged rests on it";

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
      settle: "another --seed, or a higher --effort",
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
