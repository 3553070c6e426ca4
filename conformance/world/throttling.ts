import { duration } from "../contract/duration.ts";
import { realTime, type Clock, type RealTime } from "./clock.ts";
import { TransportError, headerOf, type Answer, type Request } from "./exchange.ts";
import type { Road } from "./road.ts";

/** What a wait for a limiter needs of a clock. */
export type PatientClock = Pick<Clock, "kind" | "sleep" | "sleepOnEither" | "canWait">;

/** Obeys answers that ask to come back later (RFC 6585 section 4, RFC 9110 section 15.6.4). */
export interface Throttles {
  /**
   * Sends until the answer is none of these. Throws TransportError, "throttled", where that takes too many tries or
   * longer than the run may wait, or where requests of this kind have not been let through for long.
   */
  obey(
    request: Pick<Request, "method" | "path">,
    clock: PatientClock,
    send: () => Promise<Answer>,
  ): Promise<Answer>;
}

/** Who says when to come back is believed for so many tries; who does not say it is asked less often. */
const MOST_TRIES = { asked: 60, unasked: 8 } as const;
/** Without Retry-After 502, 503 and 504 may be the service's own answer to this very request: then it stands. */
const MOST_TRIES_OF_GATEWAY = 3;
/** Who asks to stay away for longer is not throttling but closed for the day; and no clock is moved for that. */
const MAX_OBEYED_MS = 24 * 3_600_000;
/** Requests of a kind of which none has been let through for so long, in real time, are not waited for any more. */
const SHUT_AFTER_MS = 45_000;
/** How many of those who wait try again at the same time; all at once would be throttled all over again. */
const TRIES_AT_ONCE = 8;

/**
 * How much of a Retry-After is waited out on this machine's clock, in milliseconds, where the
 * target has a clock of its own: little at first, as that may be the one the limiter goes by.
 */
const realWaitMs = (attempt: number): number => Math.min(5_000, 50 * attempt);

interface Wait {
  readonly waitMs: number;
  readonly mostTries: number;
  /** Whether the answer stands once the tries are used up. */
  readonly stands: boolean;
}

export const createThrottles = (road: Road, time: RealTime = realTime): Throttles => {
  let waiting = 0;
  const shutSinceMs = new Map<string, number>();
  const isShut = (kind: string, attempt: number): boolean => {
    const nowMs = time.nowMs();
    const sinceMs = shutSinceMs.get(kind) ?? nowMs;
    shutSinceMs.set(kind, sinceMs);
    return attempt > 1 && nowMs - sinceMs > SHUT_AFTER_MS;
  };
  const waitOut = async (clock: PatientClock, waitMs: number, attempt: number): Promise<void> => {
    waiting += 1;
    try {
      // The limiter may count on the target's clock or on real time, and nobody can tell: first the cheaper one, then both.
      if (attempt === 1) return await clock.sleepOnEither(waitMs);
      await clock.sleep(waitMs);
      if (clock.kind === "virtual") await time.pause(Math.min(waitMs, realWaitMs(attempt)));
    } finally {
      waiting -= 1;
    }
  };
  return {
    obey: async ({ method, path }, clock, send) => {
      const kind = `${method} ${path.replace(/\?.*$/s, "")}`;
      let waitedMs = 0;
      for (let attempt = 1; ; attempt += 1) {
        const answer = await send();
        const wait = waitOf(answer, method, attempt, road);
        if (wait === undefined) {
          shutSinceMs.delete(kind);
          return answer;
        }
        const turnMs = wait.waitMs * (1 + Math.floor(waiting / TRIES_AT_ONCE));
        const hasEnded = attempt >= wait.mostTries || isShut(kind, attempt);
        if (hasEnded && wait.stands) return answer;
        if (hasEnded || wait.waitMs > MAX_OBEYED_MS || !clock.canWait(waitedMs + wait.waitMs))
          throw new TransportError(answer.exchange, "throttled", sentenceOf(answer, attempt, waitedMs));
        road.throttled(wait.waitMs);
        await waitOut(clock, turnMs, attempt);
        waitedMs += turnMs;
      }
    },
  };
};

const sentenceOf = (answer: Answer, attempt: number, waitedMs: number): string => {
  const asked = headerOf(answer, "retry-after");
  return `throttled ${attempt} times in a row, with status ${answer.status} and ${asked === undefined ? "no Retry-After" : `Retry-After ${asked}`}, after waiting for ${duration(waitedMs)}`;
};

const waitOf = (answer: Answer, method: string, attempt: number, road: Road): Wait | undefined => {
  const { status } = answer;
  const askedMs = retryAfterMs(answer);
  if (askedMs !== undefined) return { waitMs: askedMs, mostTries: MOST_TRIES.asked, stands: false };
  const waitMs = road.backOffMs(attempt);
  if (status === 429) return { waitMs, mostTries: MOST_TRIES.unasked, stands: false };
  // What a gateway could not pass on may have been done all the same, so only reads are sent again.
  const isOfGateway = status === 503 || (method === "GET" && (status === 502 || status === 504));
  return isOfGateway ? { waitMs, mostTries: MOST_TRIES_OF_GATEWAY, stands: true } : undefined;
};

/** How long the answer asks the client to stay away, in milliseconds; undefined where it does not (RFC 9110 section 10.2.3). */
export const retryAfterMs = (answer: Answer): number | undefined => {
  if (answer.status !== 429 && answer.status !== 503) return undefined;
  const value = headerOf(answer, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes much for a date that is none ("1.5" is a day of May), so only the form of RFC 9110 is read.
  const dateMs = /^[A-Z][a-z]+, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  const answeredMs = Date.parse(headerOf(answer, "date") ?? "");
  if (Number.isNaN(dateMs) || Number.isNaN(answeredMs)) return 1_000;
  return Math.max(0, dateMs - answeredMs);
};
