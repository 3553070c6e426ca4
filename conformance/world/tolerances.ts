/** The tolerances of one run, with the profile's overrides. */
export interface Tolerances {
  /**
   * Distance from a lifetime's end within which a probe decides nothing, in milliseconds: clocks may round and answers
   * take time.
   */
  readonly lifetimeGuardMs: number;
  /** The coarsest resolution of a lifetime's end that may pass, in milliseconds; undefined for the default. */
  readonly lifetimeResolutionMs?: number | undefined;
  /** How long a new notification may take to be listed, in milliseconds of the target's time. */
  readonly visibilityMs: number;
  /** The same in real time, for a target whose clock can be moved: it may still index in real time. */
  readonly visibilityRealMs: number;
  /** How long an answer may take, in milliseconds. */
  readonly requestTimeoutMs: number;
}
