import { duration } from "../../contract/duration.ts";
import { LONGEST_TIMER_MS, type RealTime } from "../clock.ts";
import {
  TransportError,
  headerOf,
  mayBeGateways,
  withoutQuery,
  type Answer,
  type Request,
} from "../exchange.ts";
import type { ConnectionHealth } from "./connection-health.ts";
import type { Counted, PatientClock } from "./lockouts.ts";
import { asksToComeBack, type Pacer } from "./pacer.ts";
import { retryPolicy, type Retries } from "./retry.ts";

const { mostTries, longestRetryAfterMs, longestPauseMs, triesAtOnce, shutAfterMs, triesUntilShut } =
  retryPolicy.throttled;

type Kinded = Pick<Request, "method" | "path">;

/**
 * How much of a Retry-After to wait in real time for each try, in milliseconds, if the target has its own clock: little at
 * first, since the limiter may use that clock.
 */
const PAUSE_MS = 50;

/** By kind, since when no request has been let through. */
const createShuts = ({ nowMs: now }: RealTime) => {
  const sinceMs = new Map<string, number>();
  return {
    isShut: (kind: string, attempt: number, { kind: clock }: PatientClock): boolean => {
      const nowMs = now();
      const shutMs = sinceMs.get(kind) ?? nowMs;
      sinceMs.set(kind, shutMs);
      return attempt >= triesUntilShut[clock] && nowMs - shutMs > shutAfterMs;
    },
    letThrough: (request: Kinded): void => {
      if (sinceMs.size > 0) sinceMs.delete(withoutQuery(request));
    },
  };
};

/** Ends once this much of the target's time or of this machine's has passed. */
export const sleepOnEither = async (
  clock: Pick<PatientClock, "sleepAsAsked">,
  time: RealTime,
  durationMs: number,
): Promise<void> => {
  const over = new AbortController();
  try {
    await Promise.race([
      clock.sleepAsAsked(durationMs, over.signal),
      time.pause(Math.min(durationMs, LONGEST_TIMER_MS), over.signal).catch(() => undefined),
    ]);
  } finally {
    over.abort();
  }
};

/** Waits as asked, so that those who wait at the same time do not all come back at once. */
const createPatience = (pacer: Pick<Pacer, "counted" | "elapsed">, time: RealTime) => {
  let waiting = 0;
  /** Returns the clock on which alone as much time has passed as was asked for; undefined if nobody knows. */
  const waitOut = async (
    clock: PatientClock,
    waitMs: number,
    attempt: number,
  ): Promise<Counted | undefined> => {
    const elapsed = pacer.elapsed();
    waiting += 1;
    // The limiter may count on the target's clock or in real time: try the cheaper one first, then both, unless moving
    // the clock has been enough for most.
    try {
      if (clock.kind === "virtual" && attempt === 1) await sleepOnEither(clock, time, waitMs);
      else await clock.sleepAsAsked(waitMs);
      if (clock.kind === "virtual" && attempt > 1 && pacer.counted() !== "target")
        await time.pause(Math.min(waitMs, longestPauseMs, PAUSE_MS * attempt));
    } finally {
      waiting -= 1;
    }
    // Where time passes by itself nothing tells the two apart.
    return clock.runs() ? undefined : elapsed(waitMs);
  };
  return { waitOut, spread: (waitMs: number): number => waitMs * (1 + Math.floor(waiting / triesAtOnce)) };
};

/**
 * Obeys answers that ask to retry later (RFC 6585 section 4, RFC 9110 section 15.6.4): what watches the answers to one
 * request waits as long as each asks for, and returns whether it did, at once if none of this status asks. Throws
 * TransportError "throttled" if that takes too many tries or longer than the run may wait, or if requests of this kind
 * have not been let through for long.
 */
export const createThrottles = (
  health: Pick<ConnectionHealth, "throttled">,
  pacer: Pick<Pacer, "turnedAway" | "servedAfter" | "learnClock" | "counted" | "elapsed">,
  { backOffMs, time }: Retries,
) => {
  const { isShut, letThrough } = createShuts(time);
  const { waitOut, spread } = createPatience(pacer, time);
  return (
    request: Kinded,
    clock: PatientClock,
    waitingFor: (wait: () => Promise<boolean>) => Promise<boolean>,
  ) => {
    let waitedMs = 0;
    let attempt = 0;
    let waitedBy: Counted | undefined;
    let waitedFor: Answer | undefined;
    const gotThrough = (): false => {
      if (waitedFor !== undefined) pacer.servedAfter(waitedFor);
      if (waitedBy !== undefined) pacer.learnClock(waitedBy, true);
      letThrough(request);
      return false;
    };
    const waitIfAsked = async (answer: Answer): Promise<boolean> => {
      attempt += 1;
      if (waitedBy !== undefined) pacer.learnClock(waitedBy, false);
      const { waitMs, most, stands } = waitOf(answer, backOffMs(attempt), await askedMsOf(answer, clock));
      if (asksToComeBack(answer)) pacer.turnedAway(answer, clock);
      const hasEnded = attempt >= most || isShut(withoutQuery(request), attempt, clock);
      if (hasEnded && stands) return false;
      if (hasEnded || waitMs > longestRetryAfterMs || !clock.canWaitAsAsked(waitedMs + waitMs))
        throw new TransportError(answer.exchange, "throttled", sentenceOf(answer, attempt, waitedMs));
      health.throttled(waitMs);
      waitedFor = answer;
      const spreadMs = spread(waitMs);
      waitedBy = await waitOut(clock, spreadMs, attempt);
      waitedMs += spreadMs;
      return true;
    };
    return (answer: Answer): false | Promise<boolean> => {
      // What a gateway could not deliver may still have been done, so only reads are resent.
      const isSentAgain = answer.status === 429 || (request.method === "GET" && mayBeGateways(answer));
      if (isSentAgain) return waitingFor(() => waitIfAsked(answer));
      if (asksToComeBack(answer)) pacer.turnedAway(answer, clock);
      return gotThrough();
    };
  };
};

const sentenceOf = (answer: Answer, attempt: number, waitedMs: number): string => {
  const asked = headerOf(answer, "retry-after");
  return `throttled ${attempt} times in a row, with status ${answer.status} and ${asked === undefined ? "no Retry-After" : `Retry-After ${asked}`}, after waiting for ${duration(waitedMs)}`;
};

/** How long and how often to wait after an answer, and whether it counts as missing once the tries are used up. */
const waitOf = (answer: Answer, backOffMs: number, askedMs: number | undefined) => {
  const waitMs = askedMs ?? backOffMs;
  if (askedMs !== undefined) return { waitMs, most: mostTries.withRetryAfter, stands: false };
  if (answer.status === 429) return { waitMs, most: mostTries.without, stands: false };
  const most = asksToComeBack(answer) ? mostTries.without : retryPolicy.mostSends;
  return { waitMs, most, stands: true };
};

/** How long the answer asks the client to stay away, in milliseconds; undefined if it does not (RFC 9110 section 10.2.3). */
export const retryAfterMs = (answer: Pick<Answer, "status" | "headers">): number | undefined => {
  if (!asksToComeBack(answer)) return undefined;
  const value = headerOf(answer, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const answeredMs = Date.parse(headerOf(answer, "date") ?? "");
  const untilMs = retryDateMs(value) - answeredMs;
  // A date that is long past is by another clock than the answer's Date.
  return Number.isNaN(untilMs) || untilMs < -longestRetryAfterMs ? 1_000 : Math.max(0, untilMs);
};

/** Date.parse accepts many non-dates ("1.5" is a day in May), so only the format of RFC 9110 is parsed. */
const retryDateMs = (value: string): number =>
  /^[A-Z][a-z]+, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;

/**
 * The same, also for a service whose Retry-After is a date by its own clock, which a hook moves, while a server before it
 * writes the machine's time into Date.
 */
const askedMsOf = async (answer: Answer, clock: PatientClock): Promise<number | undefined> => {
  const askedMs = retryAfterMs(answer);
  if (askedMs === undefined || clock.kind === "real" || !clock.isTold) return askedMs;
  const retryMs = retryDateMs(headerOf(answer, "retry-after") ?? "");
  const apartMs = Math.abs(retryMs - Date.parse(headerOf(answer, "date") ?? ""));
  // NaN if there is no date to compare.
  if (!(apartMs > longestRetryAfterMs)) return askedMs;
  const untilMs = retryMs - (await clock.now()).earliestMs;
  return Math.abs(untilMs) > longestRetryAfterMs ? askedMs : Math.max(0, untilMs);
};
