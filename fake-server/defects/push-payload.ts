import type { Delivery } from "../delivery/delivery.ts";
import type { Behaviour } from "../behaviour.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Notification } from "../notifications.ts";
import { type Defect, defect } from "../registry.ts";
import type { Service } from "../context.ts";

/** Sends something else than the notification. */
const pushing = (
  summary: string,
  breaks: readonly RequirementId[],
  payload: (notification: Notification, attempt: number, service: Service, delivery: Delivery) => unknown,
): Defect =>
  defect(summary, breaks, () => ({
    pushBody: (delivery, attempt, service) =>
      JSON.stringify(payload(delivery.notification, attempt, service, delivery)),
  }));

/** Only retries differ. */
const retrying = (
  summary: string,
  change: (notification: Notification, service: Service, attempt: number) => object,
): Defect =>
  pushing(summary, ["push.same-notification"], (notification, attempt, service) =>
    attempt === 1 ? notification : { ...notification, ...change(notification, service, attempt) },
  );

const EVENTS_BETWEEN = 5;

/** Leaves notifications out of the list once they are settled in some way. */
const unlisting = (
  summary: string,
  isGone: (delivery: Delivery, sound: Behaviour, service: Service) => boolean,
): Defect =>
  defect(summary, ["push.listed"], (sound) => {
    const gone: string[] = [];
    return {
      afterPush: (_outcome, delivery, _pending, service) => {
        if (isGone(delivery, sound, service)) gone.push(delivery.notification.id);
      },
      matching: (filters, viewer, context) => {
        const { where, parameters } = sound.matching(filters, viewer, context);
        return gone.length === 0
          ? { where, parameters }
          : {
              where: `${where} AND id NOT IN (SELECT value FROM json_each(?))`,
              parameters: [...parameters, JSON.stringify(gone)],
            };
      },
    };
  });

/** What is pushed (sections 2.3, 2.4, 4.5), gone wrong. */
export const pushPayloadDefects = {
  "push-with-put": defect("Pushes are sent with PUT.", ["push.delivered"], () => ({
    pushRequest: (request) => ({ ...request, method: "PUT" }),
  })),
  "push-to-the-root": defect("Pushes go to the callback's host, at /.", ["push.delivered"], () => ({
    pushRequest: (request) => ({ ...request, url: new URL("/", request.url).href }),
  })),
  "push-as-form": defect("Pushes are encoded as a form.", ["push.delivered"], () => ({
    pushHeaders: () => ({ "content-type": "application/x-www-form-urlencoded" }),
    pushBody: ({ notification }) => new URLSearchParams({ ...notification }).toString(),
  })),
  "push-leaves-events-out": defect("Every fifth event is not pushed.", ["push.delivered"], () => {
    let events = 0;
    return {
      pushesEvent: () => {
        events += 1;
        return events % EVENTS_BETWEEN !== 0;
      },
    };
  }),
  "push-first-event-of-account-only": defect(
    "An account whose notification is still pending gets no push of another one.",
    ["push.delivered", "push.independent-schedules"],
    () => ({
      onNewDelivery: (delivery, pending) => {
        const { accountId } = delivery.notification;
        const waits = pending
          .all()
          .some((other) => other !== delivery && other.notification.accountId === accountId);
        if (waits) pending.drop(delivery);
      },
    }),
  ),

  "push-payload-in-envelope": pushing(
    "The notification stands within an envelope.",
    ["push.payload"],
    (notification) => ({ event: "notification", data: notification }),
  ),
  "push-payload-create-time-in-ms": pushing(
    "The payload's createTime is a number.",
    ["push.payload"],
    (notification) => ({ ...notification, createTime: Date.parse(notification.createTime) }),
  ),
  "push-payload-create-time-without-ms": pushing(
    "The payload's createTime has no milliseconds.",
    ["push.payload"],
    (notification) => ({ ...notification, createTime: notification.createTime.replace(/\.\d+/, "") }),
  ),
  "push-payload-data-null": pushing(
    "Empty data is null in the payload.",
    ["push.payload"],
    (notification) => ({ ...notification, data: notification.data || null }),
  ),
  "push-payload-leaves-empty-out": pushing(
    "Fields that are empty are left out of the payload.",
    ["push.payload"],
    (notification) => Object.fromEntries(Object.entries(notification).filter(([, value]) => value !== "")),
  ),
  "push-payload-id-without-dashes": pushing(
    "The payload's id is written without dashes.",
    ["push.payload"],
    (notification) => ({ ...notification, id: notification.id.replaceAll("-", "") }),
  ),

  "push-not-listed-once-acknowledged": unlisting(
    "Acknowledged notifications leave the list.",
    ({ acknowledged }) => acknowledged,
  ),
  "push-not-listed-once-given-up": unlisting(
    "Notifications that were given up leave the list.",
    (delivery, sound, service) =>
      !delivery.acknowledged && delivery.attempts.length >= sound.maxPushes(delivery, service),
  ),
  "push-lists-another-time": pushing(
    "The payload's createTime is a second later than the list's.",
    ["push.listed"],
    (notification) => ({
      ...notification,
      createTime: new Date(Date.parse(notification.createTime) + 1_000).toISOString(),
    }),
  ),
  "push-retry-with-new-id": retrying("Each retry has an id of its own.", (_notification, { random }) => ({
    id: random.uuid(),
  })),
  "push-retry-with-new-time": retrying("A retry's createTime is its own.", (_notification, service) => ({
    createTime: new Date(service.clock.nowMs()).toISOString(),
  })),
  "push-retry-says-so-in-remark": retrying(
    "A retry is counted in its remark.",
    ({ remark }, _service, attempt) => ({
      remark: `${remark} (retry ${attempt - 1})`,
    }),
  ),
  "push-last-retry-without-data": retrying(
    "The fourth push and later ones have other data.",
    ({ data }, _service, attempt) => ({
      data: attempt < 4 ? data : `${data}expired`,
    }),
  ),
} satisfies Record<string, Defect>;
