import { SECOND_MS, MINUTE_MS, DAY_MS } from "./duration.ts";

/** The numbers that the document promises (section 8). A profile may replace them for a staging service. */
export interface Limits {
  readonly codeLifetimeMs: number;
  /** How long a refresh token works after issue. */
  readonly refreshTokenLifetimeMs: number;
  /** The longest state that must be accepted. */
  readonly stateMaxBytes: number;
  readonly defaultLimit: number;
  readonly defaultPage: number;
  /** Delays of the retries of a failed push, in order (section 6). */
  readonly pushDelaysMs: readonly number[];
  /** The maximum number of pushes of one notification. */
  readonly maxPushes: number;
}

export const documentLimits: Limits = {
  codeLifetimeMs: 10 * MINUTE_MS,
  refreshTokenLifetimeMs: 30 * DAY_MS,
  stateMaxBytes: 128,
  defaultLimit: 10,
  defaultPage: 0,
  pushDelaysMs: [30 * SECOND_MS, 60 * SECOND_MS, 120 * SECOND_MS, 240 * SECOND_MS],
  maxPushes: 5,
};

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
