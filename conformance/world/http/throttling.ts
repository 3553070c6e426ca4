import { duration } from "../../contract/duration.ts";
import type { Clock } from "../clock.ts";
import {
  TransportError,
  headerOf,
  isUnavailable,
  mayBeGateways,
  withoutQuery,
  type Answer,
  type Request,
} from "../exchange.ts";
import type { ConnectionHealth } from "./connection-health.ts";
import { retryPolicy, type Retries } from "./retry.ts";

export type PatientClock = Pick<
  Clock,
  "kind" | "isTold" | "now" | "sleepAsAsked" | "sleepOnEither" | "canWaitAsAsked"
>;

const { mostTries, mostTriesOfGateway, longestRetryAfterMs, shutAfterMs, triesUntilShut, triesAtOnce } =
  retryPolicy.throttled;

/**
 * How much of a Retry-After to wait in real time, in milliseconds, if the target has its own clock: little at first,
 * since the limiter may use that clock.
 */
const realWaitMs = (attempt: number): number => Math.min(5_000, 50 * attempt);

/** How many requests it takes at most to learn that a limiter heeds the other clock than before. */
const MOST_TRUST = 8;

type Kinded = Pick<Request, "method" | "path">;

/** By kind, since when no request has been let through. */
const createShuts = ({ nowMs: now }: Retries["time"]) => {
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

/** By kind, whether most requests were let through after only the target's clock had moved. */
const createTrust = () => {
  const trust = new Map<string, number>();
  return {
    heedsClock: (kind: string): boolean => (trust.get(kind) ?? 0) > 0,
    learn: (kind: string, isLetThrough: boolean): void => {
      const changed = (trust.get(kind) ?? 0) + (isLetThrough ? 1 : -1);
      trust.set(kind, Math.max(-MOST_TRUST, Math.min(MOST_TRUST, changed)));
    },
  };
};

/**
 * Obeys answers that ask to retry later (RFC 6585 section 4, RFC 9110 section 15.6.4): what watches the answers to one
 * request waits as long as each asks for, and returns whether it did, at once if none of this status asks. Throws
 * TransportError "throttled" if that takes too many tries or longer than the run may wait, or if requests of this kind
 * have not been let through for long.
 */
export const createThrottles = (
  health: Pick<ConnectionHealth, "throttled">,
  { backOffMs, time }: Retries,
) => {
  let waiting = 0;
  const { isShut, letThrough } = createShuts(time);
  const { learn, heedsClock } = createTrust();
  /** Returns whether as much time as asked for has passed only on the target's clock. */
  const waitOut = async (clock: PatientClock, kind: string, waitMs: number, attempt: number) => {
    const sinceMs = time.nowMs();
    waiting += 1;
    try {
      // The limiter may count on the target's clock or in real time: try the cheaper one first, then both, unless moving
      // the clock has been enough for most.
      await (attempt === 1 ? clock.sleepOnEither(waitMs) : clock.sleepAsAsked(waitMs));
      if (attempt > 1 && clock.kind === "virtual" && !heedsClock(kind))
        await time.pause(Math.min(waitMs, realWaitMs(attempt)));
      return clock.kind === "virtual" && time.nowMs() - sinceMs < waitMs;
    } finally {
      waiting -= 1;
    }
  };
  return (
    request: Kinded,
    clock: PatientClock,
    waitingFor: (wait: () => Promise<boolean>) => Promise<boolean>,
  ) => {
    const { method } = request;
    let waitedMs = 0;
    let attempt = 0;
    let byClockAlone = false;
    const waitIfAsked = async (answer: Answer): Promise<boolean> => {
      const kind = withoutQuery(request);
      attempt += 1;
      const wait = waitOf(answer, method, backOffMs(attempt), await askedMsOf(answer, clock));
      if (byClockAlone) learn(kind, wait === undefined);
      if (wait === undefined) {
        letThrough(request);
        return false;
      }
      const spreadMs = wait.waitMs * (1 + Math.floor(waiting / triesAtOnce));
      const hasEnded = attempt >= wait.mostTries || isShut(kind, attempt, clock);
      if (hasEnded && wait.stands) return false;
      if (hasEnded || wait.waitMs > longestRetryAfterMs || !clock.canWaitAsAsked(waitedMs + wait.waitMs))
        throw new TransportError(answer.exchange, "throttled", sentenceOf(answer, attempt, waitedMs));
      health.throttled(wait.waitMs);
      byClockAlone = await waitOut(clock, kind, spreadMs, attempt);
      waitedMs += spreadMs;
      return true;
    };
    return (answer: Answer): false | Promise<boolean> => {
      if (mayAskToWait(answer)) return waitingFor(() => waitIfAsked(answer));
      if (byClockAlone) learn(withoutQuery(request), true);
      letThrough(request);
      return false;
    };
  };
};

const mayAskToWait = ({ status }: Answer): boolean => status === 429 || (status >= 502 && status <= 504);

const sentenceOf = (answer: Answer, attempt: number, waitedMs: number): string => {
  const asked = headerOf(answer, "retry-after");
  return `throttled ${attempt} times in a row, with status ${answer.status} and ${asked === undefined ? "no Retry-After" : `Retry-After ${asked}`}, after waiting for ${duration(waitedMs)}`;
};

/** How long and how often to wait after an answer, and whether it stands once the tries are used up; undefined if not. */
const waitOf = (answer: Answer, method: string, waitMs: number, askedMs: number | undefined) => {
  if (askedMs !== undefined) return { waitMs: askedMs, mostTries: mostTries.withRetryAfter, stands: false };
  if (answer.status === 429) return { waitMs, mostTries: mostTries.without, stands: false };
  // What a gateway could not deliver may still have been done, so only reads are resent.
  const isOfGateway = isUnavailable(answer) || (method === "GET" && mayBeGateways(answer));
  return isOfGateway ? { waitMs, mostTries: mostTriesOfGateway, stands: true } : undefined;
};

/** How long the answer asks the client to stay away, in milliseconds; undefined if it does not (RFC 9110 section 10.2.3). */
export const retryAfterMs = (answer: Pick<Answer, "status" | "headers">): number | undefined => {
  if (answer.status !== 429 && answer.status !== 503) return undefined;
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
