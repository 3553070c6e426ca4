import { seededRandom } from "../../contract/random.ts";
import { tolerances } from "../../judging/tolerances.ts";
import { realTime, type RealTime } from "../clock.ts";
import { TransportError } from "../exchange.ts";

/**
 * The one retry policy for target and hooks. A request that may have been obeyed is never resent: the case, flow or
 * check that depends on its answer starts over as a whole.
 */
export const retryPolicy = {
  /** Maximum number of outages that one request waits out, within `outageMs` in total. */
  mostOutages: 5,
  /** How often a harmless request is sent if its connection is cut. */
  mostSends: 3,
  /** How often a flow, check or rule is started if answers are lost. */
  mostBeginnings: 3,
  /** How often a case that misses an answer is played again, alone. */
  mostAgain: 3,
  /**
   * Where answers are slow, or this machine is too busy to read them, a request is given as many recent response times
   * instead, up to a multiple of the time limit.
   */
  slow: { responseTimes: 8, mostLimits: 6 },
  throttled: {
    /** Tries of a request that is turned away with a Retry-After, and without. */
    mostTries: { withRetryAfter: 60, without: 8 },
    /** A longer Retry-After is not obeyed, and no clock is moved for it. */
    longestRetryAfterMs: 24 * 3_600_000,
    /** Longest single wait on this machine's clock for a service whose clock is moved. */
    longestPauseMs: 5_000,
    /** If no request of a kind was let through for this long in real time, requests of that kind stop waiting. */
    shutAfterMs: 45_000,
    /** A request is tried so often before that, more if waits move a clock: real time also passes because a machine is busy. */
    triesUntilShut: { real: 2, virtual: 12 },
  },
  backOff: { firstMs: 50, longestMs: 5_000 },
  /** Longest pause between two probes of an address that refuses connections. */
  longestProbePauseMs: 1_000,
} as const;

/** What all retries of one run share. */
export interface Retries {
  /** The delay before the next try, in milliseconds: exponential backoff with seeded jitter. */
  readonly backOffMs: (attempt: number) => number;
  /** How long target or hooks may stay away, in milliseconds. */
  readonly outageMs: number;
  readonly time: RealTime;
  readonly signal: AbortSignal | undefined;
}

export interface RetryOptions {
  readonly seed?: number;
  readonly outageMs?: number | undefined;
  readonly time?: RealTime;
  /** Ends all waiting. */
  readonly signal?: AbortSignal;
}

export const createRetries = ({
  seed = 0,
  outageMs = tolerances.outage.default,
  time = realTime,
  signal,
}: RetryOptions = {}): Retries => {
  const random = seededRandom(seed);
  const { firstMs, longestMs } = retryPolicy.backOff;
  return {
    // Full jitter would let some retry at once, so half of the delay is fixed.
    backOffMs: (attempt) => Math.min(longestMs, firstMs * 2 ** (attempt - 1)) * (0.5 + random() / 2),
    outageMs,
    time,
    signal,
  };
};

/** Why a request failed: no complete answer, or turned away for a while. */
export type Setback =
  | { readonly kind: "lost"; readonly reason: TransportError["reason"] }
  | { readonly kind: "turned away"; readonly retryAfterMs: number | undefined };

/** A request that may be sent several times. */
export interface Sending<T> {
  readonly send: () => Promise<T>;
  /** The connection it uses. */
  readonly health: { untilBack(): Promise<boolean> };
  /** Whether sending it twice is harmless. */
  readonly isHarmless: boolean;
  /** Waits as long as an answer asks for, and returns whether it asked: at once if not. Throws once that happened too often. */
  readonly isTurnedAway?: (value: T) => boolean | Promise<boolean>;
  /** Classifies an error; undefined if nothing is to be resent after it. */
  readonly setbackOf: (error: unknown) => Setback | undefined;
  /** Called each time the request is resent after an error. */
  readonly onRepeat: () => void;
}

/** Sends, and resends as long as the policy allows; then throws the last error. */
export const sendWithRetries = async <T>(retries: Retries, sending: Sending<T>): Promise<T> => {
  const attempts = newAttempts();
  for (;;) {
    try {
      const value = await sending.send();
      const isTurnedAway = sending.isTurnedAway?.(value) ?? false;
      if (isTurnedAway === false || !(await isTurnedAway)) return value;
    } catch (error) {
      const setback = sending.setbackOf(error);
      if (setback === undefined) throw error;
      if (!(await waitsOut(retries, sending, setback, attempts).catch(() => false))) throw error;
      sending.onRepeat();
    }
  }
};

const newAttempts = () => ({ outages: 0, cuts: 0, turnedAway: 0, waitedMs: 0 });

/** Waits as long as the setback requires; false if the request failed for good or has used up `outageMs`. */
const waitsOut = async (
  { backOffMs, outageMs, time, signal }: Retries,
  { health, isHarmless }: Pick<Sending<never>, "health" | "isHarmless">,
  setback: Setback,
  attempts: ReturnType<typeof newAttempts>,
): Promise<boolean> => {
  const waitFor = async (waitMs: number): Promise<boolean> => {
    if (attempts.waitedMs + waitMs > outageMs) return false;
    attempts.waitedMs += waitMs;
    await time.pause(waitMs, signal);
    return true;
  };
  if (setback.kind === "turned away") {
    attempts.turnedAway += 1;
    return waitFor(Math.max(setback.retryAfterMs ?? backOffMs(attempts.turnedAway), backOffMs(1)));
  }
  if (setback.reason === "refused") {
    attempts.outages += 1;
    if (attempts.outages > retryPolicy.mostOutages || attempts.waitedMs > outageMs) return false;
    const sinceMs = time.nowMs();
    const isBack = await health.untilBack();
    attempts.waitedMs += time.nowMs() - sinceMs;
    return isBack;
  }
  // Nothing was sent: others give back what they hold, closed connections their ports within a minute.
  if (setback.reason === "own-limit") return waitFor(backOffMs((attempts.outages += 1)));
  attempts.cuts += 1;
  if (setback.reason !== "closed" || !isHarmless || attempts.cuts >= retryPolicy.mostSends) return false;
  return waitFor(backOffMs(attempts.cuts));
};

/** Starts over if an answer of the target was lost, after `onLost` has dealt with what was begun. */
export const beginAnew = <T>(
  work: () => Promise<T>,
  onLost?: (error: TransportError) => Promise<void> | void,
): Promise<T> => beginAnewAfter(isLostAnswer, work, onLost);

const isLostAnswer = (error: unknown): error is TransportError =>
  error instanceof TransportError && error.reason === "closed";

/** The same after another kind of loss. */
export const beginAnewAfter = async <T, E>(
  isLoss: (error: unknown) => error is E,
  work: () => Promise<T>,
  onLost: (error: E) => Promise<void> | void = () => undefined,
): Promise<T> => {
  for (let beginnings = 1; ; beginnings += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLoss(error) || beginnings === retryPolicy.mostBeginnings) throw error;
      await onLost(error);
    }
  }
};
