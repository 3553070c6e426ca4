import { monotonicMs } from "../clock.ts";
import type { Scope } from "../evidence/journal.ts";
import { TransportError, mayBeGateways, type Answer, type Request } from "../exchange.ts";
import { createConnectionHealth } from "./connection-health.ts";
import { asksToComeBack, createPacer, type PacerOptions } from "./pacer.ts";
import { retryPolicy, sendWithRetries, type Retries } from "./retry.ts";
import type { PatientClock } from "./lockouts.ts";
import { createThrottles } from "./throttling.ts";

/** What all requests to the target share. */
export type TargetAddress = ReturnType<typeof addressOf>;

/** `probe` tells whether the address accepts connections. */
export const addressOf = (
  probe: () => Promise<boolean>,
  retries: Retries,
  asked: Pick<PacerOptions, "pace" | "maxWaitMs" | "toldMs"> = {},
) => {
  const health = createConnectionHealth(probe, retries);
  const pacer = createPacer({ ...asked, time: retries.time, signal: retries.signal });
  return { retries, health, pacer, throttles: createThrottles(health, pacer, retries) };
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
  /** That of the case that sends it. */
  readonly scope: Pick<Scope, "losses" | "isControl">;
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
  { scope: { losses, isControl }, clock, isOver = () => false, flights = { inFlight: 0 } }: SendOptions,
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const { health, pacer, retries } = address;
  const name = losses.begin(request);
  const isTurnedAway = address.throttles(request, clock, (wait) => outside(flights, wait));
  let isCut = false;
  const sendOnce = async (): Promise<Answer> => {
    const ended = await outside(flights, () => pacer.admit(request, clock, isControl));
    let answer: Answer | undefined;
    const sentMs = monotonicMs();
    try {
      const received = await send();
      answer = pacer.isOfLimiter(received) ? { ...received, isOfLimiter: true } : received;
      health.answered(monotonicMs() - sentMs);
      if (isCut && !asksToComeBack(answer)) pacer.servedAfter("closed connections");
      return answer;
    } finally {
      ended(answer);
    }
  };
  flights.inFlight += 1;
  try {
    const answer = await sendWithRetries(retries, {
      health,
      isHarmless: request.method === "GET",
      send: sendOnce,
      isTurnedAway,
      setbackOf: (error) => {
        if (!(error instanceof TransportError) || isOver()) return undefined;
        if (error.reason === "throttled" || error.reason === "locked") return undefined;
        health.count("lost");
        isCut = error.reason === "closed";
        if (isCut) pacer.cutOff();
        return { kind: "lost", reason: error.reason };
      },
      onRepeat: () => health.count("sentAgain"),
    });
    if (mayBeGateways(answer)) {
      health.count("hidden");
      losses.note(name, { exchange: answer.exchange, reason: "gateway" });
    }
    return answer;
  } catch (error) {
    if (error instanceof TransportError) losses.note(name, error);
    throw error;
  } finally {
    flights.inFlight -= 1;
  }
};
