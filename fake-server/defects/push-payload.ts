import { MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { PendingDeliveries } from "../behaviour.ts";
import { counted, givenUp, leavingOut, pushing, pushingFields, sameAccount, showing } from "../changes.ts";
import type { Service, PushRequest } from "../context.ts";
import type { Notification } from "../notifications.ts";
import { change, everyNth, keeping, type Replacement, rows } from "../registry.ts";

/** Changes fields of retries only. */
const retrying = (
  changed: (notification: Notification, service: Service, attempt: number) => object,
): Replacement =>
  pushingFields((notification, attempt, service) =>
    attempt === 1 ? {} : changed(notification, service, attempt),
  );

const requesting = (changed: (request: PushRequest) => Partial<PushRequest>): Replacement =>
  change("pushRequest", (request) => ({ ...request, ...changed(request) }));

/** Changes how retries are sent. */
const retryingRequest = (changed: (request: PushRequest) => Partial<PushRequest>): Replacement =>
  change("pushRequest", (request, _sound, _delivery, attempt) =>
    attempt === 1 ? request : { ...request, ...changed(request) },
  );

/** Retries with these headers for their content type. */
const typed = (type: Readonly<Record<string, string>>): Replacement =>
  retryingRequest(({ headers }) => {
    const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-type");
    return { headers: { ...Object.fromEntries(others), ...type } };
  });

/** Defects in what is pushed, how, and in its relation to the list (sections 2.3, 2.4, 4.4, 4.5 and 6). */
export const pushPayloadDefects = rows({
  "push.delivered": {
    "push-with-put: Pushes are sent with PUT.": requesting(() => ({ method: "PUT" })),
    "push-to-the-root: Pushes are sent to the path / of the callback's host.": requesting(({ url }) => ({
      url: new URL("/", url).href,
    })),
    "push-as-form: The payload is form-encoded.": {
      pushHeaders: () => ({ "content-type": "application/x-www-form-urlencoded" }),
      pushBody: ({ notification }) => new URLSearchParams({ ...notification }).toString(),
    },
    "push-leaves-events-out: Every fifth event is not pushed.": everyNth(5, { pushesEvent: () => false }),
    "push-ten-events-of-an-account: Events of an account after its tenth are not pushed.": keeping(
      (events = counted(new Map())) => ({ pushesEvent: ({ accountId }) => events(accountId) <= 10 }),
    ),
    "push-account-off-once-given-up: Once a notification was given up, later events of its account are not pushed.":
      (sound, off = new Set<string>()) => ({
        afterPush: (outcome, delivery, pending, service) => {
          sound.afterPush(outcome, delivery, pending, service);
          if (givenUp(delivery, sound, service)) off.add(delivery.notification.accountId);
        },
        pushesEvent: (notification, service) =>
          !off.has(notification.accountId) && sound.pushesEvent(notification, service),
      }),
    "push-nothing: Nothing is pushed.": { pushesEvent: () => false },
    "push-retries-with-put: Retries are sent with PUT.": retryingRequest(() => ({ method: "PUT" })),
    "push-retries-to-the-root: Retries are sent to the path / of the callback's host.": retryingRequest(
      ({ url }) => ({ url: new URL("/", url).href }),
    ),
    "push-retries-as-text: Retries have a text content type.": typed({ "content-type": "text/plain" }),
    "push-retries-without-type: Retries have no content type.": typed({}),
    "push-one-event-of-an-account-a-second: An account's second event within a second is not pushed.": (
      _sound,
      latest = new Map<string, number>(),
    ) => ({
      pushesEvent: ({ accountId }, { clock }) => {
        const beforeMs = latest.get(accountId) ?? -Infinity;
        latest.set(accountId, clock.nowMs());
        return clock.nowMs() - beforeMs >= SECOND_MS;
      },
    }),
  },
  "push.delivered push.independent-schedules": {
    "push-first-event-of-account-only: Only one notification of an account is pushed at a time.": {
      onNewDelivery: (delivery, pending) => {
        const waits = pending.all().some((other) => other !== delivery && sameAccount(other, delivery));
        if (waits) pending.drop(delivery);
      },
    },
  },
  "push.payload": {
    "push-payload-in-envelope: The notification is wrapped in an envelope.": pushing((notification) => ({
      event: "notification",
      data: notification,
    })),
    "push-payload-create-time-in-ms: The payload's createTime is a number.": pushingFields(
      ({ createTime }) => ({
        createTime: Date.parse(createTime),
      }),
    ),
    "push-payload-create-time-without-ms: The payload's createTime has no milliseconds.": pushingFields(
      ({ createTime }) => ({ createTime: createTime.replace(/\.\d+/, "") }),
    ),
    "push-payload-data-null: Empty data is null in the payload.": pushingFields(({ data }) => ({
      data: data || null,
    })),
    "push-payload-leaves-empty-out: Empty fields are omitted from the payload.": pushing((notification) =>
      Object.fromEntries(Object.entries(notification).filter(([, value]) => value !== "")),
    ),
    "push-payload-id-without-dashes: The payload's id has no dashes.": pushingFields(({ id }) => ({
      id: id.replaceAll("-", ""),
    })),
    "push-payload-id-in-capitals: The payload's id is in upper case.": pushingFields(({ id }) => ({
      id: id.toUpperCase(),
    })),
  },
  "push.listed": {
    "push-not-listed-once-acknowledged: Acknowledged notifications disappear from the list.": leavingOut(
      ({ acknowledged }) => acknowledged,
    ),
    "push-not-listed-once-given-up: Notifications that were given up disappear from the list.":
      leavingOut(givenUp),
    "push-listed-with-number-once-given-up: The status of a notification that was given up is a number in the list.":
      (sound, gone = new Set<string>()) => ({
        afterPush: (outcome, delivery, pending, service) => {
          sound.afterPush(outcome, delivery, pending, service);
          if (givenUp(delivery, sound, service)) gone.add(delivery.notification.id);
        },
        item: (notification, context) => ({
          ...(sound.item(notification, context) as object),
          ...(gone.has(notification.id) ? { status: 1 } : {}),
        }),
      }),
    "push-listed-to-the-second: The list shows createTime without the milliseconds that the push has.":
      showing(({ createTime }) => ({ createTime: createTime.replace(/\.\d+/, ".000") })),
    "push-listed-in-steps-of-a-300th: The list shows createTime as SQL Server's datetime keeps it: milliseconds end with 0, 3 or 7.":
      showing(({ createTime }) => {
        const ticks = Math.round((Date.parse(createTime) * 3) / 10);
        return { createTime: new Date(Math.round((ticks * 10) / 3)).toISOString() };
      }),
    "push-lists-another-time: The payload's createTime is a second later than in the list.": pushingFields(
      ({ createTime }) => ({ createTime: new Date(Date.parse(createTime) + 1_000).toISOString() }),
    ),
    "push-listed-a-minute-later: A notification is listed a minute after it is pushed.": {
      visibilityDelayMs: () => MINUTE_MS,
    },
    "push-not-listed-among-all-once-given-up: Notifications that were given up are listed only with an id or accountId filter.":
      leavingOut(givenUp, ({ id, accountId }) => id === undefined && accountId === undefined),
  },
  "push.same-notification": {
    "push-retry-with-new-id: Each retry has a new id.": retrying((_notification, { random }) => ({
      id: random.uuid(),
    })),
    "push-retry-with-new-time: A retry has a new createTime.": retrying((_notification, service) => ({
      createTime: new Date(service.clock.nowMs()).toISOString(),
    })),
    "push-retry-says-so-in-remark: A retry states its number in remark.": retrying(
      ({ remark }, _service, attempt) => ({ remark: `${remark} (retry ${attempt - 1})` }),
    ),
    "push-last-retry-without-data: From the fourth push on, data is different.": retrying(
      ({ data }, _service, attempt) => ({ data: attempt < 4 ? data : `${data}expired` }),
    ),
  },
  "push.same-notification push.payload": {
    "push-retries-in-envelope: Retries wrap the notification in an envelope.": change(
      "pushBody",
      (body, _delivery, attempt) => (attempt === 1 ? body : `{"notification":${body}}`),
    ),
  },
  "push.unacknowledged-retries push.schedule": {
    "push-ends-once-read: A notification is not pushed again once it was read from the list.": (
      sound,
      pending?: PendingDeliveries,
    ) => ({
      onNewDelivery: (_delivery, all) => {
        pending = all;
      },
      item: (notification, context) => {
        const read = pending?.all().find((delivery) => delivery.notification.id === notification.id);
        if (read !== undefined && read.attempts.length > 0) pending?.drop(read);
        return sound.item(notification, context);
      },
    }),
  },
});
