import type { ExchangeRecord, Scope } from "../world/evidence/journal.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { World } from "../world/world.ts";
import type { ClientIndex } from "./client-assignment.ts";
import type { Effort } from "./effort.ts";

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
  /** If there is a second client: whether cases take turns with it, or only those that ask for it. */
  readonly secondClient?: "in turn" | "where asked for";
  /** How many cases of one part start concurrently. */
  readonly casesAtATime: number;
  /** Waits a moment after a case that lost an answer, longer each time; returns whether the target answers a plain request. */
  readonly recover: (tries: number) => Promise<boolean>;
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
  constructor() {
    super("interrupted");
    this.name = "Interrupted";
  }
}
