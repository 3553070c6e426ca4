import net from "node:net";
import tls from "node:tls";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { fieldOf, parseJson } from "../../conformance/contract/json.ts";
import { givenUp, pushing, pushingFields, sameAccount, statusIn } from "../changes.ts";
import type { Delivery } from "../context.ts";
import { anchors, listedDelayMs, readings } from "../delivery/schedule.ts";
import { change, type Replacement, together, variantRows } from "../registry.ts";

const POLL_MS = 5 * SECOND_MS;

/** Whether an answer's body is the acknowledgement of this notification (section 2.4). */
const acknowledgementIn = (body: string, id: string): boolean => {
  const fields = parseJson(body);
  return fieldOf(fields, "id") === id && fieldOf(fields, "received") === true;
};

const timeout = (ms: number): Replacement => ({ senderTimeoutMs: () => ms });

/** Opens an unused connection, like senders that dial while they wait for a free one. */
const openInVain = (url: string): void => {
  const { protocol, hostname, port } = new URL(url);
  const to = { host: hostname, port: Number(port) };
  const socket = protocol === "https:" ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect(to);
  const end = (): void => {
    socket.end();
    socket.unref();
  };
  socket.on("error", () => undefined);
  socket.once(protocol === "https:" ? "secureConnect" : "connect", end);
};

const sendersByTheClock = variantRows({
  "push-reading-r1-from-start: Delays count from the latest start (reading R1).": readings.r1(
    anchors.startOfLatest,
  ),
  "push-reading-r1-from-failure: Delays count from the latest failure (reading R1), on new connections.": {
    ...readings.r1(anchors.endOfLatest),
    keepsConnections: () => false,
  },
  "push-reading-r2-from-start: Delays count from the start of the first push (reading R2).": readings.r2(
    anchors.startOfFirst,
  ),
  "push-reading-r2-from-failure: Delays count from the failure of the first push (reading R2).": readings.r2(
    anchors.endOfFirst,
  ),
  "push-reading-r3-from-start: The first push is delayed, too; delays count from the latest start (R3).":
    readings.r3(anchors.startOfLatest),
  "push-reading-r3-from-failure: The first push is delayed, too; delays count from the latest failure (R3).":
    readings.r3(anchors.endOfLatest),
  "push-reading-r4: The first push is delayed, too; delays count from the event (reading R4).": readings.r4(),
  "push-reading-r8-from-start: Only the four listed delays, from the latest start (reading R8).": readings.r8(
    anchors.startOfLatest,
  ),
  "push-reading-r8-from-failure: Only the four listed delays, from the latest failure (reading R8).":
    readings.r8(anchors.endOfLatest),
  "push-jitter-late: Retries are late by up to a twelfth of their delay.": {
    pushJitterMs: (attempt, service) =>
      attempt === 1
        ? 0
        : Math.floor(
            (listedDelayMs(attempt - 2, service) / 12) * ((service.random.uint32() % 1_024) / 1_024),
          ),
  },
  "push-noticed-every-five-seconds: A worker looks for due pushes every five seconds.": {
    pushNoticedMs: (dueMs) => Math.ceil(dueMs / POLL_MS) * POLL_MS,
  },
  "push-first-after-two-seconds: The first push leaves two seconds after the event.": change(
    "pushDelayMs",
    (delayMs, attempt) => (attempt === 1 ? 2 * SECOND_MS : delayMs),
  ),
  "push-any-2xx-acknowledges: Any 2xx acknowledges a push.": { acknowledges: statusIn(200, 299) },
  "push-code-and-body-acknowledge: 200 with the acknowledgement of its id acknowledges a push.": {
    acknowledges: (outcome, { notification }) =>
      outcome.kind === "answered" &&
      outcome.status === 200 &&
      acknowledgementIn(outcome.body, notification.id),
  },
  "push-code-alone-acknowledges-at-once: 200 acknowledges a push once it is read, whatever body follows, if any.":
    { acknowledges: (outcome) => "status" in outcome && outcome.status === 200 },
  "push-timeout-two-seconds: The sender waits 2 seconds for an answer.": timeout(2 * SECOND_MS),
  "push-timeout-half-a-minute: The sender waits 30 seconds for an answer.": timeout(30 * SECOND_MS),
  "push-timeout-a-minute: The sender waits 60 seconds for an answer.": timeout(MINUTE_MS),
  "push-template-present: The payload names its Template and has additional fields.": pushing(
    (notification) => ({
      Template: notification.businessType,
      ...notification,
      version: 2,
      links: { self: `/notifications/${notification.id}` },
    }),
  ),
  "push-counted-in-further-fields: Additional fields and headers number the pushes of a notification.":
    together(
      pushingFields((_notification, attempt, { clock }) => ({ attempt, sentAt: clock.nowMs() })),
      change("pushHeaders", (headers, _delivery, attempt, { random }) => ({
        ...headers,
        "x-delivery-attempt": String(attempt),
        "x-delivery-id": random.hex(8),
      })),
    ),
  "push-status-readed-after-the-first: A notification's status is unread in its first push, and readed from then on.":
    pushingFields((_notification, attempt) => ({ status: attempt === 1 ? "unread" : "readed" })),
  "push-further-headers: Pushes carry a signature, an agent and an idempotency key.": change(
    "pushHeaders",
    (fields, delivery, _attempt, service) => ({
      ...fields,
      "Content-Type": "application/json; charset=UTF-8",
      "User-Agent": "Notifier/2.1",
      "Idempotency-Key": delivery.notification.id,
      "X-Signature": `t=${service.clock.nowMs()},v1=${service.random.hex(32)}`,
    }),
  ),
  "push-json-written-otherwise: The payload is indented, with its keys in a different order.": {
    pushBody: ({ notification }) =>
      JSON.stringify(Object.fromEntries(Object.entries(notification).toReversed()), null, 2),
  },
  "push-sixteen-at-a-time-newest-first: At most sixteen pushes are in flight; the newest waiting one goes first.":
    { pushesInFlight: () => 16, nextInLine: (waiting) => waiting.length - 1 },

  "push-connections-opened-in-vain: With every push, another connection is opened and closed unused.": {
    pushRequest: (request) => {
      openInVain(request.url);
      return request;
    },
  },
  "push-retries-written-otherwise: The JSON of retries is indented.": change(
    "pushBody",
    (body, _delivery, attempt) => (attempt === 1 ? body : JSON.stringify(JSON.parse(body), null, 2)),
  ),
  "push-long: Some pushes have an additional field of 70,000 characters.": change(
    "pushBody",
    (body, { notification }) =>
      /[01]$/.test(notification.id)
        ? JSON.stringify({ ...(JSON.parse(body) as object), details: "é".repeat(70_000) })
        : body,
  ),
  "push-says-text: Pushes declare a text content type.": change("pushHeaders", (fields) => ({
    ...fields,
    "content-type": "text/plain",
  })),
  "push-first-after-fifteen-seconds: The first push leaves fifteen seconds after the event.": change(
    "pushDelayMs",
    (delayMs, attempt) => (attempt === 1 ? 15 * SECOND_MS : delayMs),
  ),
  "push-account-in-turn: The events of an account are pushed one after the other, each once the one before is over.":
    (sound, waiting = new Set<Delivery>()) => ({
      onNewDelivery: (delivery, pending) => {
        if (pending.all().some((other) => other !== delivery && sameAccount(other, delivery)))
          waiting.add(delivery);
      },
      pushDelayMs: (attempt, delivery, service) =>
        waiting.has(delivery) ? 1_000 * DAY_MS : sound.pushDelayMs(attempt, delivery, service),
      afterPush: (_outcome, delivery, pending, service) => {
        if (!delivery.acknowledged && !givenUp(delivery, sound, service)) return;
        const next = [...waiting].find((other) => sameAccount(other, delivery));
        if (next === undefined) return;
        waiting.delete(next);
        pending.replan(next);
      },
    }),
  "push-one-worker: Only one push is in flight at a time, and it waits a second for its answer.": {
    pushesInFlight: () => 1,
    senderTimeoutMs: () => SECOND_MS,
  },
});

/** Where the clock has been moved on meanwhile, some readings leave a sender waiting that counts real time. */
const senderByRealTime = variantRows(
  {
    "push-timeout-in-real-time: The sender waits for an answer for three seconds of real time.": {
      senderTimeoutMs: () => 3 * SECOND_MS,
      timesOutInRealTime: () => true,
    },
  },
  { leavesOpen: ["push.unacknowledged-retries"] },
);

/** Variants of senders (sections 4.5 and 6). */
export const pushVariants = { ...sendersByTheClock, ...senderByRealTime };
