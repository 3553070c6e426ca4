/** One of the two targets of a duet: `a` is the base, `b` is what is compared with it. */
export type Side = "a" | "b";

/** What one endpoint did in one block: one stretch of load on one of the two targets. */
export interface Block {
  /** Two blocks of one number, one a side, stand beside each other in time. */
  readonly pair: number;
  readonly side: Side;
  /** Empty where nothing was granted in the whole block. */
  readonly endpoint: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Granted requests a second. */
  readonly throughput: number;
  /** Why the block cannot be used, such as dropped iterations; the whole pair is left out then. */
  readonly spoilt?: string;
}

export interface PlannedPair {
  /** From 0. */
  readonly pair: number;
  readonly order: readonly [Side, Side];
}

export interface BrokenRule {
  readonly side: Side;
  readonly rule: string;
  readonly times: number;
}
