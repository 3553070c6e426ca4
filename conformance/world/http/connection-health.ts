import { retryPolicy, type Retries } from "./retry.ts";

/** What a run has met on its connections to the target. */
export interface ConnectionReport {
  /** Exchanges that ended without a whole answer. */
  readonly lost: number;
  /** Requests that were sent again, because they had not been received or because they only read. */
  readonly sentAgain: number;
  /** Answers that asked to come back later, and were obeyed. */
  readonly throttled: number;
  /** The longest wait that such an answer asked for, in milliseconds. */
  readonly longestThrottleMs: number;
  /** How often the address refused connections for a while, and the longest such while in milliseconds. */
  readonly outages: number;
  readonly longestOutageMs: number;
  /** Whether the target stayed away for longer than the budget. */
  readonly stayedAway: boolean;
}

/** How an address does, for all that is sent to it: round trips, losses, outages. */
export interface ConnectionHealth {
  /** An answer came, after so many milliseconds: an address that refuses connections from now on is down, not wrong. */
  answered(afterMs: number): void;
  /** How long answers have taken lately, in milliseconds; 0 before the first. */
  roundTripMs(): number;
  lost(): void;
  sentAgain(): void;
  throttled(waitMs: number): void;
  /**
   * Waits, together with all others, until the address accepts connections again. False where it never has, where that
   * takes longer than an outage may, and where the run is interrupted.
   */
  untilBack(): Promise<boolean>;
  report(): ConnectionReport;
}

/** How much the latest round trip counts, as in RFC 6298 section 2. */
const SMOOTHING = 1 / 8;
/** `probe` says whether the address accepts connections. */
export const createConnectionHealth = (probe: () => Promise<boolean>, retries: Retries): ConnectionHealth => {
  const { backOffMs, outageMs, time, signal } = retries;
  const met = { lost: 0, sentAgain: 0, throttled: 0, longestThrottleMs: 0, outages: 0, longestOutageMs: 0 };
  let hasAnswered = false;
  let roundTripMs = 0;
  let stayedAway = false;
  let outage: Promise<boolean> | undefined;

  const watch = async (): Promise<boolean> => {
    const startMs = time.nowMs();
    if (await probe()) return true;
    if (!stayedAway) met.outages += 1;
    for (let attempt = 1; ; attempt += 1) {
      if (signal?.aborted === true) return false;
      const awayMs = time.nowMs() - startMs;
      // Once the budget is spent nothing waits any more; a target that comes back all the same is used again.
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
    answered: (afterMs) => {
      roundTripMs = hasAnswered ? roundTripMs + (afterMs - roundTripMs) * SMOOTHING : afterMs;
      hasAnswered = true;
      stayedAway = false;
    },
    roundTripMs: () => roundTripMs,
    lost: () => void (met.lost += 1),
    sentAgain: () => void (met.sentAgain += 1),
    throttled: (waitMs) => {
      met.throttled += 1;
      met.longestThrottleMs = Math.max(met.longestThrottleMs, waitMs);
    },
    untilBack: () => {
      if (!hasAnswered || signal?.aborted === true) return Promise.resolve(false);
      outage ??= watch().finally(() => {
        outage = undefined;
      });
      return outage;
    },
    report: () => ({ ...met, stayedAway }),
  };
};
