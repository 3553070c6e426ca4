import { monotonicMs } from "../clock.ts";
import type { Losses } from "../evidence/losses.ts";
import { TransportError, mayBeGateways, type Answer, type Request } from "../exchange.ts";
import { createUnanswered } from "./unanswered.ts";
import { createConnectionHealth } from "./connection-health.ts";
import { retryPolicy, sendWithRetries, type Retries } from "./retry.ts";
import { createThrottles, type PatientClock } from "./throttling.ts";

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

/**
 * Sends by the retry policy: resends what was not accepted, reads whose connection was cut, and what was turned away
 * for a while (RFC 6585 section 4). `isOver` stops it; `waiting` wraps each wait for a rate limiter.
 */
export const sendToTarget = (
  { retries, health, throttles: watchThrottling, unanswered }: TargetAddress,
  request: Pick<Request, "method" | "path"> & Partial<Pick<Request, "headers">>,
  clock: PatientClock,
  send: () => Promise<Answer>,
  isOver: () => boolean = () => false,
  waiting: (wait: () => Promise<boolean>) => Promise<boolean> = (wait) => wait(),
): Promise<Answer> => {
  const isTurnedAway = watchThrottling(request, clock);
  return sendWithRetries(retries, {
    health,
    isHarmless: request.method === "GET",
    send: async () => {
      const sentMs = monotonicMs();
      const answer = await send();
      health.answered(monotonicMs() - sentMs);
      if (isHidden(request, answer)) {
        health.count("hidden");
        unanswered.lost(request, "closed");
      } else unanswered.answered(request, answer.status);
      return answer;
    },
    isTurnedAway: (answer) => waiting(() => isTurnedAway(answer)),
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
};

/** A gateway may have answered a request that is not sent again, since it may have taken effect. */
const isHidden = ({ method }: Pick<Request, "method">, answer: Answer): boolean =>
  method !== "GET" && mayBeGateways(answer);

/** Sends a request of a case, and notes it among the case's losses if its outcome stays unknown. */
export const noteLoss = async (
  losses: Losses,
  { unanswered }: TargetAddress,
  request: Request,
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const name = losses.begin(request);
  try {
    const answer = await send();
    if (isHidden(request, answer)) {
      const isNeverAnswered = unanswered.isNever(request);
      losses.note(name, { exchange: answer.exchange, reason: "gateway", isNeverAnswered });
    }
    return answer;
  } catch (error) {
    if (error instanceof TransportError) losses.note(name, error);
    throw error;
  }
};
