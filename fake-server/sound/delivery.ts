import type { PushDecisions } from "../behaviour.ts";
import type { Delivery, PushOutcome } from "../delivery/delivery.ts";

const SENDER_TIMEOUT_MS = 10_000;
/** Enough that some receivers that hang do not hold up the rest, and few enough to spare receiver and sender. */
const PUSHES_IN_FLIGHT = 64;
const EXPECTED_STATUS = 200;

/** When the latest push ended, unsuccessfully; the event's moment before the first one. */
export const endOfLatest = ({ attempts, createdAtMs }: Delivery): number =>
  attempts.at(-1)?.endedAtMs ?? createdAtMs;

export const statusOf = (outcome: PushOutcome): number | undefined =>
  outcome.kind === "answered" ? outcome.status : undefined;

/**
 * The first push goes out with the event; each later one counts its delay from the
 * failure of the one before it, and the first push is one of the five (section 6 in
 * the reading R1). What the expected return code is, is not shown: 200, and the code
 * alone decides, because only its absence is said to make a push unsuccessful.
 */
export const soundDelivery: PushDecisions = {
  pushesEvent: () => true,
  pushDelayMs: (attempt, _delivery, { limits }) =>
    attempt === 1 ? 0 : (limits.pushDelaysMs[attempt - 2] ?? Infinity),
  pushAnchorMs: endOfLatest,
  pushJitterMs: () => 0,
  pushNoticedMs: (dueMs) => dueMs,
  maxPushes: (_delivery, { limits }) => limits.maxPushes,
  onNewDelivery: () => undefined,
  pushRequests: () => [],
  pushBody: ({ notification }) => JSON.stringify(notification),
  pushHeaders: () => ({ "content-type": "application/json", accept: "application/json" }),
  requestAfter: () => undefined,
  acknowledges: (outcome) => statusOf(outcome) === EXPECTED_STATUS,
  pushesAgain: (_outcome, { acknowledged }) => !acknowledged,
  afterPush: () => undefined,
  senderTimeoutMs: () => SENDER_TIMEOUT_MS,
  checksCertificate: () => true,
  keepsConnections: () => true,
  pushesInFlight: () => PUSHES_IN_FLIGHT,
  nextInLine: () => 0,
};
