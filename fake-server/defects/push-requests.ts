import { MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { PendingDeliveries } from "../behaviour.ts";
import { givenUp, leavingOut, pushingFields } from "../changes.ts";
import type { PushRequest } from "../pushes.ts";
import { change, type Replacement, rows } from "../registry.ts";

/** Changes how retries are sent. */
const retrying = (changed: (request: PushRequest) => Partial<PushRequest>): Replacement =>
  change("pushRequest", (request, _sound, _delivery, attempt) =>
    attempt === 1 ? request : { ...request, ...changed(request) },
  );

/** Retries with these headers for their content type. */
const typed = (type: Readonly<Record<string, string>>): Replacement =>
  retrying(({ headers }) => {
    const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-type");
    return { headers: { ...Object.fromEntries(others), ...type } };
  });

/** Defects in the form of pushes, and in their relation to reads (sections 2.4, 4.4, 4.5 and 6). */
export const pushRequestDefects = rows({
  "push.delivered": {
    "push-retries-with-put: Retries are sent with PUT.": retrying(() => ({ method: "PUT" })),
    "push-retries-to-the-root: Retries are sent to the path / of the callback's host.": retrying(
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
  "push.same-notification": {
    "push-retries-in-envelope: Retries wrap the notification in an envelope.": [
      change("pushBody", (body, _delivery, attempt) => (attempt === 1 ? body : `{"notification":${body}}`)),
      "push.payload",
    ],
  },
  "push.payload": {
    "push-payload-id-in-capitals: The payload's id is in upper case.": pushingFields(({ id }) => ({
      id: id.toUpperCase(),
    })),
  },
  "push.unacknowledged-retries": {
    "push-ends-once-read: A notification is not pushed again once it was read from the list.": [
      (sound, pending?: PendingDeliveries) => ({
        onNewDelivery: (_delivery, all) => {
          pending = all;
        },
        item: (notification, context) => {
          const read = pending?.all().find((delivery) => delivery.notification.id === notification.id);
          if (read !== undefined && read.attempts.length > 0) pending?.drop(read);
          return sound.item(notification, context);
        },
      }),
      "push.schedule",
    ],
  },
  "push.listed": {
    "push-listed-a-minute-later: A notification is listed a minute after it is pushed.": {
      visibilityDelayMs: () => MINUTE_MS,
    },
    "push-not-listed-among-all-once-given-up: Notifications that were given up are listed only with an id or accountId filter.":
      leavingOut(givenUp, ({ id, accountId }) => id === undefined && accountId === undefined),
  },
});
