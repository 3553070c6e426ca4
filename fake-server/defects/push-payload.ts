import type { Service } from "../context.ts";
import type { Notification } from "../notifications.ts";
import { decide, decisions, type Replacement, rows } from "../registry.ts";
import { givenUp, leavingOut } from "./tools.ts";

/** Sends something other than the notification. */
const pushing = (
  payload: (notification: Notification, attempt: number, service: Service) => unknown,
): Replacement =>
  decide("pushBody", ({ notification }, attempt, service) =>
    JSON.stringify(payload(notification, attempt, service)),
  );

/** Changes some fields of the notification. */
const changing = (changed: (notification: Notification) => object): Replacement =>
  pushing((notification) => ({ ...notification, ...changed(notification) }));

/** Changes only retries. */
const retrying = (
  changed: (notification: Notification, service: Service, attempt: number) => object,
): Replacement =>
  pushing((notification, attempt, service) =>
    attempt === 1 ? notification : { ...notification, ...changed(notification, service, attempt) },
  );

const MOST_OF_ACCOUNT = 10;
const EVENTS_BETWEEN = 5;

/** Defects in what is pushed (sections 2.3, 2.4, 4.5). */
export const pushPayloadDefects = rows({
  "push.delivered": {
    "push-with-put: Pushes are sent with PUT.": decide("pushRequest", (request) => ({
      ...request,
      method: "PUT",
    })),
    "push-to-the-root: Pushes are sent to the path / of the callback's host.": decide(
      "pushRequest",
      (request) => ({
        ...request,
        url: new URL("/", request.url).href,
      }),
    ),
    "push-as-form: The payload is form-encoded.": decisions(() => ({
      pushHeaders: () => ({ "content-type": "application/x-www-form-urlencoded" }),
      pushBody: ({ notification }) => new URLSearchParams({ ...notification }).toString(),
    })),
    "push-leaves-events-out: Every fifth event is not pushed.": decisions((_sound, events = 0) => ({
      pushesEvent: () => {
        events += 1;
        return events % EVENTS_BETWEEN !== 0;
      },
    })),
    "push-ten-events-of-an-account: Events of an account after its tenth are not pushed.": decisions(
      (_sound, events = new Map<string, number>()) => ({
        pushesEvent: ({ accountId }) => {
          const count = (events.get(accountId) ?? 0) + 1;
          events.set(accountId, count);
          return count <= MOST_OF_ACCOUNT;
        },
      }),
    ),
    "push-account-off-once-given-up: Once a notification was given up, later events of its account are not pushed.":
      decisions((sound, off = new Set<string>()) => ({
        afterPush: (outcome, delivery, pending, service) => {
          sound.afterPush(outcome, delivery, pending, service);
          if (givenUp(delivery, sound, service)) off.add(delivery.notification.accountId);
        },
        pushesEvent: (notification, service) =>
          !off.has(notification.accountId) && sound.pushesEvent(notification, service),
      })),
    "push-first-event-of-account-only: Only one notification of an account is pushed at a time.": [
      decide("onNewDelivery", (delivery, pending) => {
        const { accountId } = delivery.notification;
        const waits = pending
          .all()
          .some((other) => other !== delivery && other.notification.accountId === accountId);
        if (waits) pending.drop(delivery);
      }),
      "push.independent-schedules",
    ],
    "push-nothing: Nothing is pushed.": decide("pushesEvent", () => false),
  },
  "push.payload": {
    "push-payload-in-envelope: The notification is wrapped in an envelope.": pushing((notification) => ({
      event: "notification",
      data: notification,
    })),
    "push-payload-create-time-in-ms: The payload's createTime is a number.": changing(({ createTime }) => ({
      createTime: Date.parse(createTime),
    })),
    "push-payload-create-time-without-ms: The payload's createTime has no milliseconds.": changing(
      ({ createTime }) => ({ createTime: createTime.replace(/\.\d+/, "") }),
    ),
    "push-payload-data-null: Empty data is null in the payload.": changing(({ data }) => ({
      data: data || null,
    })),
    "push-payload-leaves-empty-out: Empty fields are omitted from the payload.": pushing((notification) =>
      Object.fromEntries(Object.entries(notification).filter(([, value]) => value !== "")),
    ),
    "push-payload-id-without-dashes: The payload's id has no dashes.": changing(({ id }) => ({
      id: id.replaceAll("-", ""),
    })),
  },
  "push.listed": {
    "push-not-listed-once-acknowledged: Acknowledged notifications disappear from the list.": leavingOut(
      ({ acknowledged }) => acknowledged,
    ),
    "push-not-listed-once-given-up: Notifications that were given up disappear from the list.":
      leavingOut(givenUp),
    "push-lists-another-time: The payload's createTime is a second later than in the list.": changing(
      ({ createTime }) => ({ createTime: new Date(Date.parse(createTime) + 1_000).toISOString() }),
    ),
  },
  "push.same-notification": {
    "push-retry-with-new-id: Each retry has a new id.": retrying((_notification, { random }) => ({
      id: random.uuid(),
    })),
    "push-retry-with-new-time: A retry has a new createTime.": retrying((_notification, service) => ({
      createTime: new Date(service.clock.nowMs()).toISOString(),
    })),
    "push-retry-says-so-in-remark: A retry states its number in remark.": retrying(
      ({ remark }, _service, attempt) => ({
        remark: `${remark} (retry ${attempt - 1})`,
      }),
    ),
    "push-last-retry-without-data: From the fourth push on, data is different.": retrying(
      ({ data }, _service, attempt) => ({
        data: attempt < 4 ? data : `${data}expired`,
      }),
    ),
  },
});
