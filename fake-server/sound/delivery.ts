import type { PushDecisions } from "../behaviour.ts";
import type { PushOutcome } from "../pushes.ts";
import { anchors, readings } from "../delivery/schedule.ts";

/** Enough that a few hanging receivers do not block the rest, and few enough to spare receiver and sender. */
const PUSHES_IN_FLIGHT = 64;
const EXPECTED_STATUS = 200;

export const statusOf = (outcome: PushOutcome): number | undefined =>
  outcome.kind === "answered" ? outcome.status : undefined;

/**
 * The first push is sent with the event; each later one counts its delay from the failure of the previous one, and the
 * first push is one of the five (section 6, reading R1). The expected return code is not shown: 200, and the code alone
 * decides, because only its absence makes a push unsuccessful according to the document.
 */
export const soundDelivery: PushDecisions = {
  ...readings.r1(anchors.endOfLatest),
  pushesEvent: () => true,
  pushJitterMs: () => 0,
  pushNoticedMs: (dueMs) => dueMs,
  onNewDelivery: () => undefined,
  pushCopies: () => 1,
  pushBody: ({ notification }) => JSON.stringify(notification),
  pushHeaders: () => ({ "content-type": "application/json", accept: "application/json" }),
  pushRequest: (request) => request,
  requestAfter: () => undefined,
  acknowledges: (outcome) => statusOf(outcome) === EXPECTED_STATUS,
  pushesAgain: (_outcome, { acknowledged }) => !acknowledged,
  afterPush: () => undefined,
  senderTimeoutMs: (_delivery, { limits }) => limits.senderTimeoutMs,
  timesOutInRealTime: () => false,
  checksCertificate: () => true,
  keepsConnections: () => true,
  pushesInFlight: () => PUSHES_IN_FLIGHT,
  nextInLine: () => 0,
};
