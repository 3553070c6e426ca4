import { monotonicMs } from "../clock.ts";
import type { Losses } from "../evidence/journal.ts";
import {
  TransportError,
  credentialsOf,
  isUnavailable,
  mayBeGateways,
  type Answer,
  type Request,
  withoutQuery,
} from "../exchange.ts";
import { createConnectionHealth } from "./connection-health.ts";
import { retryPolicy, sendWithRetries, type Retries, type Sending } from "./retry.ts";
import { createThrottles, type PatientClock } from "./throttling.ts";
import { accessTokenHeader } from "../../contract/forms.ts";

/** What all requests to the target share. */
export type TargetAddress = ReturnType<typeof addressOf>;

/** `probe` tells whether the address accepts connections. */
export const addressOf = (probe: () => Promise<boolean>, retries: Retries) => {
  const health = createConnectionHealth(probe, retries);
  return { retries, health, throttles: createThrottles(health, retries), unanswered: createUnanswered() };
};

/** The time limit of a request to an address by how slow its answers are now, in milliseconds. */
export const slowLimitMs = (
  { health }: { readonly health: Pick<TargetAddress["health"], "roundTripMs"> },
  timeoutMs: number,
): number => {
  const { responseTimes, mostLimits } = retryPolicy.slow;
  return Math.min(responseTimes * health.roundTripMs(), mostLimits * timeoutMs);
};

/** Counts requests, except while they wait for a rate limiter: a virtual clock would never move meanwhile. */
export interface Flights {
  inFlight: number;
}

const outside = async <T>(flights: Flights, wait: () => Promise<T>): Promise<T> => {
  flights.inFlight -= 1;
  try {
    return await wait();
  } finally {
    flights.inFlight += 1;
  }
};

interface SendOptions {
  /** Those of the case that sends it. */
  readonly losses: Losses;
  readonly clock: PatientClock;
  /** Stops the tries. */
  readonly isOver?: () => boolean;
  readonly flights?: Flights;
}

/**
 * Sends by the retry policy: resends what was not accepted, reads whose connection was cut, and what was turned away
 * for a while (RFC 6585 section 4). Notes the request among the case's losses if its outcome stays unknown.
 */
export const sendToTarget = async (
  address: TargetAddress,
  request: Request,
  { losses, clock, isOver = () => false, flights = { inFlight: 0 } }: SendOptions,
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const name = losses.begin(request);
  const isTurnedAway = address.throttles(request, clock, (wait) => outside(flights, wait));
  let mayHaveTakenEffect = false;
  let sentMs = 0;
  flights.inFlight += 1;
  try {
    const answer = await sendWithRetries(address.retries, {
      ...sendingTo(address, request, isOver),
      send: () => {
        sentMs = monotonicMs();
        return send();
      },
      isTurnedAway: (answered) => {
        count(address, request, answered, monotonicMs() - sentMs);
        const isWaitedOut = isTurnedAway(answered);
        if (isWaitedOut === false) return false;
        return isWaitedOut.then((isResent) => {
          mayHaveTakenEffect ||= isResent && request.method !== "GET" && isUnavailable(answered);
          return isResent;
        });
      },
    });
    const loss = { exchange: answer.exchange, reason: "gateway" } as const;
    if (isHidden(request, answer))
      losses.note(name, { ...loss, isNeverAnswered: address.unanswered.isNever(request) });
    else if (mayHaveTakenEffect && credentialsOf(answer).accessToken === undefined) losses.doubt(name, loss);
    return answer;
  } catch (error) {
    if (error instanceof TransportError) losses.note(name, error);
    throw error;
  } finally {
    flights.inFlight -= 1;
  }
};

const count = (
  { health, unanswered }: TargetAddress,
  request: Request,
  answer: Answer,
  afterMs: number,
): void => {
  health.answered(afterMs);
  if (isHidden(request, answer)) {
    health.count("hidden");
    unanswered.lost(request, "closed");
  } else unanswered.answered(request, answer.status);
};

const sendingTo = (
  { health, unanswered }: TargetAddress,
  request: Request,
  isOver: () => boolean,
): Pick<Sending<Answer>, "health" | "isHarmless" | "setbackOf" | "onRepeat"> => ({
  health,
  isHarmless: request.method === "GET",
  setbackOf: (error) => {
    if (!(error instanceof TransportError) || error.reason === "throttled" || isOver()) return undefined;
    health.count("lost");
    if (error.reason === "closed" || error.reason === "timeout") {
      error.isNeverAnswered = unanswered.lost(request, error.reason);
      if (error.isNeverAnswered) return undefined;
    }
    return { kind: "lost", reason: error.reason };
  },
  onRepeat: () => health.count("sentAgain"),
});

/** A gateway may have answered a request that is not sent again, since it may have taken effect. */
const isHidden = ({ method }: Pick<Request, "method">, answer: Answer): boolean =>
  method !== "GET" && mayBeGateways(answer);

type Kinded = Pick<Request, "method" | "path"> & Partial<Pick<Request, "headers">>;

/** Method, path, and whether a token comes with it: a service may answer only those that it refuses. */
const kindOf = ({ method, path, headers = [] }: Kinded): string =>
  headers.some(([name]) => name.toLowerCase() === accessTokenHeader)
    ? `${withoutQuery({ method, path })} with a token`
    : withoutQuery({ method, path });

interface Met {
  lost: number;
  timedOut: number;
  /** How many answers the address had given to other requests when the last loss counted. */
  answersBefore: number;
}

/**
 * Kinds of request that an address has never answered with success in the whole run, though it was lost often and the
 * address answered others each time in between. What each rule would find out by repeating such a request is then known.
 * The first success, at any time, ends that for good.
 */
export const createUnanswered = () => {
  const met = new Map<string, Met>();
  const served = new Set<string>();
  let answers = 0;
  const isNever = (request: Kinded): boolean => {
    if (met.size === 0) return false;
    const { lost = 0, timedOut = 0 } = met.get(kindOf(request)) ?? {};
    return (
      lost >= retryPolicy.leastLossesOfKind || (lost === timedOut && lost >= retryPolicy.leastLossesOfService)
    );
  };
  return {
    isNever,
    answered: (request: Kinded, status: number): void => {
      answers += 1;
      if (status >= 400) return;
      const kind = kindOf(request);
      served.add(kind);
      met.delete(kind);
    },
    /** Returns whether requests like this are known to get no answer, or only a gateway's. */
    lost: (request: Kinded, reason: "closed" | "timeout"): boolean => {
      const kind = kindOf(request);
      if (served.has(kind)) return false;
      const one = met.get(kind) ?? { lost: 0, timedOut: 0, answersBefore: -1 };
      met.set(kind, one);
      // Losses at one time may have one cause, such as a restart.
      if (answers > one.answersBefore) {
        one.lost += 1;
        if (reason === "timeout") one.timedOut += 1;
        one.answersBefore = answers;
      }
      return isNever(request);
    },
    /** How long to wait for an answer: less, if requests like this have always been waited for in vain. */
    timeLimitMs: (request: Kinded, usualMs: number): number =>
      isNever(request) ? usualMs * retryPolicy.partOfTimeLimit : usualMs,
  };
};
