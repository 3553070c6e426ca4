/** One of the two targets of a duet: `a` is the base, `b` is compared with it. */
export type Side = "a" | "b";

/** What one endpoint did in one block, a stretch of load on one of the two targets. */
export interface Block {
  /** Blocks with the same number, one per side, ran next to each other in time. */
  readonly pair: number;
  readonly side: Side;
  /** Empty if nothing was granted in the whole block. */
  readonly endpoint: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Granted requests per second. */
  readonly throughput: number;
  /** All requests, and those that failed; absent in records of before they were kept. */
  readonly requests?: number;
  readonly failed?: number;
  /** Why the block cannot be used, such as dropped iterations; its whole pair is then left out. */
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
