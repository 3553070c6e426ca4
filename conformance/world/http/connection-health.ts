import { retryPolicy, type Retries } from "./retry.ts";

/** What happened on a run's connections to the target. */
export interface ConnectionReport {
  /** Exchanges that ended without a complete answer. */
  readonly lost: number;
  /** Answers that may be a gateway's, to requests that may have taken effect. */
  readonly hidden: number;
  /** Requests that were resent, because they were not received or because they only read. */
  readonly sentAgain: number;
  /** Answers that asked to retry later, and were obeyed. */
  readonly throttled: number;
  /** The longest delay that such an answer asked for, in milliseconds. */
  readonly longestThrottleMs: number;
  /** How often the address refused connections for a while, and the longest such outage in milliseconds. */
  readonly outages: number;
  readonly longestOutageMs: number;
  /** Whether the target stayed away for longer than the budget. */
  readonly stayedAway: boolean;
}

/** The state of an address, shared by all requests to it: round trips, losses, outages. */
export type ConnectionHealth = ReturnType<typeof createConnectionHealth>;

/** Weight of the latest round trip, as in RFC 6298 section 2. */
const SMOOTHING = 1 / 8;

const NEVER_AWAY = { throttled: 0, longestThrottleMs: 0, outages: 0, longestOutageMs: 0 };
const UNHARMED = { lost: 0, hidden: 0, sentAgain: 0, ...NEVER_AWAY };

/** `probe` tells whether the address accepts connections. */
export const createConnectionHealth = (probe: () => Promise<boolean>, retries: Retries) => {
  const { backOffMs, outageMs, time, signal } = retries;
  const met = { ...UNHARMED };
  let hasAnswered = false;
  let roundTripMs: number | undefined;
  let stayedAway = false;
  let outage: Promise<boolean> | undefined;

  const watch = async (): Promise<boolean> => {
    const startMs = time.nowMs();
    if (await probe()) return true;
    if (!stayedAway) met.outages += 1;
    for (let attempt = 1; ; attempt += 1) {
      if (signal?.aborted === true) return false;
      const awayMs = time.nowMs() - startMs;
      // Once the budget is spent nothing waits any more, but a target that comes back is used again.
      if (stayedAway || awayMs > outageMs) {
        stayedAway = true;
        return false;
      }
      await time.pause(Math.min(retryPolicy.longestProbePauseMs, backOffMs(attempt)));
      if (!(await probe())) continue;
      met.longestOutageMs = Math.max(met.longestOutageMs, time.nowMs() - startMs);
      return true;
    }
  };

  return {
    /** Records an answer after this many milliseconds. From now on an address that refuses connections is down, not wrong. */
    answered: (afterMs: number): void => {
      roundTripMs = roundTripMs === undefined ? afterMs : roundTripMs + (afterMs - roundTripMs) * SMOOTHING;
      hasAnswered = true;
      stayedAway = false;
    },
    /** Records an answer whose duration says nothing about how far away the address is. */
    isThere: (): void => {
      hasAnswered = true;
      stayedAway = false;
    },
    /** Recent response time in milliseconds; 0 before the first answer. */
    roundTripMs: (): number => roundTripMs ?? 0,
    count: (what: "lost" | "hidden" | "sentAgain"): void => void (met[what] += 1),
    throttled: (waitMs: number): void => {
      met.throttled += 1;
      met.longestThrottleMs = Math.max(met.longestThrottleMs, waitMs);
    },
    /**
     * Waits, shared with all others, until the address accepts connections again. False if it never has, if that exceeds
     * the outage budget, or if the run is interrupted.
     */
    untilBack: (): Promise<boolean> => {
      if (!hasAnswered || signal?.aborted === true) return Promise.resolve(false);
      outage ??= watch().finally(() => {
        outage = undefined;
      });
      return outage;
    },
    report: (): ConnectionReport => ({ ...met, stayedAway }),
  };
};
