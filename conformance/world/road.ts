import { realTime, type RealTime } from "./clock.ts";

/** What a run has met on the road to its target. */
export interface RoadReport {
  /** Exchanges that ended without a whole answer. */
  readonly lost: number;
  /** Requests that were sent again, because nobody had got them or because they only read. */
  readonly sentAgain: number;
  /** Answers that asked to come back later, and were obeyed. */
  readonly throttled: number;
  /** The longest wait that such an answer asked for, in milliseconds. */
  readonly longestThrottleMs: number;
  /** How often nobody listened at the address for a while, and the longest such while in milliseconds. */
  readonly outages: number;
  readonly longestOutageMs: number;
  /** Whether the target stayed away for longer than is waited for. */
  readonly stayedAway: boolean;
}

/** The road between a run and its target: how often it is tried again, and what it did so far. */
export interface Road {
  /**
   * An answer came, after so many milliseconds: whoever refuses connections from now on is away for a while, and not at
   * a wrong address.
   */
  answered(afterMs: number): void;
  /** How long answers have taken lately, in milliseconds; 0 before the first. */
  roundTripMs(): number;
  lost(): void;
  sentAgain(): void;
  throttled(waitMs: number): void;
  /** How long to wait before the next try, in milliseconds: longer each time, and never the same for all who wait. */
  backOffMs(attempt: number): number;
  /**
   * Waits until somebody answers at the address again, everyone together. False where nobody ever did, where that
   * takes longer than an outage may, and where the run is interrupted.
   */
  untilBack(): Promise<boolean>;
  report(): RoadReport;
}

export interface RoadOptions {
  /** Whether anybody answers at the address. */
  readonly knock: () => Promise<boolean>;
  /** A number from 0 to below 1, for jitter. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** How long the target may stay away, in milliseconds. */
  readonly outageBudgetMs?: number;
  readonly time?: RealTime;
}

/** A restart takes seconds, a deployment up to a minute; whoever stays away for longer is down. */
export const OUTAGE_BUDGET_MS = 60_000;

/** How much the latest round trip counts, as in RFC 6298 section 2. */
const SMOOTHING = 1 / 8;
const FIRST_BACK_OFF_MS = 50;
const LONGEST_BACK_OFF_MS = 5_000;
const LONGEST_KNOCK_PAUSE_MS = 1_000;

export const createRoad = (options: RoadOptions): Road => {
  const { random, signal, outageBudgetMs = OUTAGE_BUDGET_MS, time = realTime } = options;
  const met = { lost: 0, sentAgain: 0, throttled: 0, longestThrottleMs: 0, outages: 0, longestOutageMs: 0 };
  let hasAnswered = false;
  let roundTripMs = 0;
  let stayedAway = false;
  let outage: Promise<boolean> | undefined;

  // "Full jitter" would let some try again at once; half of the wait is kept.
  const backOffMs = (attempt: number): number =>
    Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (attempt - 1)) * (0.5 + random() / 2);

  const watch = async (): Promise<boolean> => {
    const startMs = time.nowMs();
    if (await options.knock()) return true;
    if (!stayedAway) met.outages += 1;
    for (let attempt = 1; ; attempt += 1) {
      if (signal?.aborted === true) return false;
      const awayMs = time.nowMs() - startMs;
      // Once the budget is spent nobody waits any more; a target that comes back all the same is used again.
      if (stayedAway || awayMs > outageBudgetMs) {
        stayedAway = true;
        return false;
      }
      await time.pause(Math.min(LONGEST_KNOCK_PAUSE_MS, backOffMs(attempt)));
      if (!(await options.knock())) continue;
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
    backOffMs,
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

/** Numbers from 0 to below 1 that follow from a seed (Steele and others' SplitMix, in its 32-bit form). */
export const randomOf = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};
