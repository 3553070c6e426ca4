import { anchors, listedDelayMs, readings } from "../delivery/schedule.ts";
import { type Variant, variant } from "../registry.ts";
import { statusOf } from "../sound/delivery.ts";

const SECOND_MS = 1_000;
const POLL_MS = 5 * SECOND_MS;

/** Whether an answer's body is the acknowledgement of this notification (section 2.4). */
const acknowledgementIn = (body: string, id: string): boolean => {
  try {
    const fields = JSON.parse(body) as { id?: unknown; received?: unknown } | null;
    return fields?.id === id && fields.received === true;
  } catch {
    return false;
  }
};

const timeout = (seconds: number): Variant =>
  variant(`The sender waits ${seconds} seconds for an answer.`, () => ({
    senderTimeoutMs: () => seconds * SECOND_MS,
  }));

/** Senders that differ where sections 4.5 and 6 leave room. */
export const pushVariants = {
  "push-reading-r1-from-start": variant("Delays count from the start of the latest push (reading R1).", () =>
    readings.r1(anchors.startOfLatest),
  ),
  "push-reading-r1-from-failure": variant(
    "Delays count from the failure of the latest push (reading R1), and each push has a connection of its own.",
    () => ({ ...readings.r1(anchors.endOfLatest), keepsConnections: () => false }),
  ),
  "push-reading-r2-from-start": variant("Delays count from the start of the first push (reading R2).", () =>
    readings.r2(anchors.startOfFirst),
  ),
  "push-reading-r2-from-failure": variant(
    "Delays count from the failure of the first push (reading R2).",
    () => readings.r2(anchors.endOfFirst),
  ),
  "push-reading-r3-from-start": variant(
    "The first push is delayed too, delays count from the start of the latest push (reading R3).",
    () => readings.r3(anchors.startOfLatest),
  ),
  "push-reading-r3-from-failure": variant(
    "The first push is delayed too, delays count from the failure of the latest push (reading R3).",
    () => readings.r3(anchors.endOfLatest),
  ),
  "push-reading-r4": variant("The first push is delayed too, delays count from the event (reading R4).", () =>
    readings.r4(),
  ),
  "push-reading-r8-from-start": variant(
    "There are the four listed delays only, each from the start of the latest push (reading R8).",
    () => readings.r8(anchors.startOfLatest),
  ),
  "push-reading-r8-from-failure": variant(
    "There are the four listed delays only, each from the failure of the latest push (reading R8).",
    () => readings.r8(anchors.endOfLatest),
  ),

  "push-jitter-late": variant(
    "Retries are spread by up to a twelfth of their delay, to the late side.",
    () => ({
      pushJitterMs: (attempt, service) =>
        attempt === 1
          ? 0
          : Math.floor(
              (listedDelayMs(attempt - 2, service) / 12) * ((service.random.uint32() % 1_024) / 1_024),
            ),
    }),
  ),
  "push-noticed-every-five-seconds": variant(
    "A worker looks for pushes that are due every five seconds.",
    () => ({
      pushNoticedMs: (dueMs) => Math.ceil(dueMs / POLL_MS) * POLL_MS,
    }),
  ),
  "push-first-after-two-seconds": variant("The first push leaves two seconds after the event.", (sound) => ({
    pushDelayMs: (attempt, delivery, service) =>
      attempt === 1 ? 2 * SECOND_MS : sound.pushDelayMs(attempt, delivery, service),
  })),

  "push-any-2xx-acknowledges": variant("Any 2xx acknowledges a push.", () => ({
    acknowledges: (outcome) => {
      const status = statusOf(outcome);
      return status !== undefined && status >= 200 && status < 300;
    },
  })),
  "push-code-and-body-acknowledge": variant(
    "A push is acknowledged by 200 and the acknowledgement of its id.",
    () => ({
      acknowledges: (outcome, { notification }) =>
        outcome.kind === "answered" &&
        outcome.status === 200 &&
        acknowledgementIn(outcome.body, notification.id),
    }),
  ),
  "push-code-alone-acknowledges-at-once": variant(
    "200 acknowledges a push as soon as it is read, whatever becomes of the body behind it.",
    () => ({
      acknowledges: ({ kind, ...outcome }) =>
        (kind === "answered" || kind === "cut") && "status" in outcome && outcome.status === 200,
    }),
  ),
  "push-timeout-two-seconds": timeout(2),
  "push-timeout-half-a-minute": timeout(30),
  "push-timeout-a-minute": timeout(60),

  "push-template-present": variant("The payload names its Template and has further fields.", () => ({
    pushBody: ({ notification }) =>
      JSON.stringify({
        Template: notification.businessType,
        ...notification,
        version: 2,
        links: { self: `/notifications/${notification.id}` },
      }),
  })),
  "push-counted-in-further-fields": variant(
    "Further fields and headers count the pushes of a notification.",
    (sound) => ({
      pushBody: ({ notification }, attempt, { clock }) =>
        JSON.stringify({ ...notification, attempt, sentAt: clock.nowMs() }),
      pushHeaders: (delivery, attempt, service) => ({
        ...sound.pushHeaders(delivery, attempt, service),
        "x-delivery-attempt": String(attempt),
        "x-delivery-id": service.random.hex(8),
      }),
    }),
  ),
  "push-further-headers": variant("Pushes carry a signature, an agent and an idempotency key.", (sound) => ({
    pushHeaders: (delivery, attempt, service) => ({
      ...sound.pushHeaders(delivery, attempt, service),
      "Content-Type": "application/json; charset=UTF-8",
      "User-Agent": "Notifier/2.1",
      "Idempotency-Key": delivery.notification.id,
      "X-Signature": `t=${service.clock.nowMs()},v1=${service.random.hex(32)}`,
    }),
  })),
  "push-json-written-otherwise": variant("The payload is indented, its keys stand in another order.", () => ({
    pushBody: ({ notification }) =>
      JSON.stringify(Object.fromEntries(Object.entries(notification).toReversed()), null, 2),
  })),
  "push-sixteen-at-a-time-newest-first": variant(
    "Sixteen pushes are under way at most, and of those that wait the newest goes first.",
    () => ({ pushesInFlight: () => 16, nextInLine: (waiting) => waiting.length - 1 }),
  ),
} satisfies Record<string, Variant>;
