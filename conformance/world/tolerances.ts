/** The tolerances of one run, with what its profile replaces. */
export interface Tolerances {
  /** How near to a lifetime's end, in milliseconds, a probe says nothing: clocks may round and answers take time. */
  readonly lifetimeGuardMs: number;
  /** How far from its promised end, in milliseconds, a lifetime's end may be known only; undefined for the default. */
  readonly lifetimeResolutionMs?: number | undefined;
  /** How long a new notification may take until it is listed, in milliseconds of the target's time. */
  readonly visibilityMs: number;
  /**
   * The same in real time, where the target's clock can be moved: a service may index in its own time although it tells
   * another.
   */
  readonly visibilityRealMs: number;
  /** How long an answer may take, in milliseconds. */
  readonly requestTimeoutMs: number;
}
