import { monotonicMs } from "../clock.ts";
import type { Losses } from "../evidence/losses.ts";
import {
  TransportError,
  credentialsOf,
  isUnavailable,
  mayBeGateways,
  type Answer,
  type Request,
} from "../exchange.ts";
import { createUnanswered } from "./unanswered.ts";
import { createConnectionHealth } from "./connection-health.ts";
import { retryPolicy, sendWithRetries, type Retries, type Sending } from "./retry.ts";
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

interface SendOptions {
  /** Those of the case that sends it. */
  readonly losses: Losses;
  readonly clock: PatientClock;
  /** Stops the tries. */
  readonly isOver?: () => boolean;
  /** Wraps each wait for a rate limiter. */
  readonly waiting?: (wait: () => Promise<boolean>) => Promise<boolean>;
}

/**
 * Sends by the retry policy: resends what was not accepted, reads whose connection was cut, and what was turned away
 * for a while (RFC 6585 section 4). Notes the request among the case's losses if its outcome stays unknown.
 */
export const sendToTarget = async (
  address: TargetAddress,
  request: Request,
  { losses, clock, isOver = () => false, waiting = (wait) => wait() }: SendOptions,
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const name = losses.begin(request);
  const isTurnedAway = address.throttles(request, clock);
  let mayHaveTakenEffect = false;
  try {
    const answer = await sendWithRetries(address.retries, {
      ...sendingTo(address, request, isOver),
      send: () => counted(address, request, send),
      isTurnedAway: async (turned) => {
        const isResent = await waiting(() => isTurnedAway(turned));
        mayHaveTakenEffect ||= isResent && request.method !== "GET" && isUnavailable(turned);
        return isResent;
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
  }
};

const counted = async (
  { health, unanswered }: TargetAddress,
  request: Request,
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const sentMs = monotonicMs();
  const answer = await send();
  health.answered(monotonicMs() - sentMs);
  if (isHidden(request, answer)) {
    health.count("hidden");
    unanswered.lost(request, "closed");
  } else unanswered.answered(request, answer.status);
  return answer;
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
