import type { Behaviour, PendingDeliveries } from "../behaviour.ts";
import type { PushRequest } from "../delivery/delivery.ts";
import { type Defect, defect } from "../registry.ts";
import { MINUTE_MS, SECOND_MS } from "./tools.ts";

/** Only retries are sent otherwise. */
const retrying = (summary: string, changed: (request: PushRequest) => PushRequest): Defect =>
  defect(summary, ["push.delivered"], () => ({
    pushRequest: (request, _delivery, attempt) => (attempt === 1 ? request : changed(request)),
  }));

const typed =
  (type: string | undefined) =>
  (request: PushRequest): PushRequest => {
    const others = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== "content-type");
    return {
      ...request,
      headers: Object.fromEntries(type === undefined ? others : [...others, ["content-type", type]]),
    };
  };

/** What pushes look like, and what reading has to do with them (sections 2.4, 4.4, 4.5 and 6), gone wrong. */
export const pushRequestDefects = {
  "push-retries-with-put": retrying("Retries are sent with PUT.", (request) => ({
    ...request,
    method: "PUT",
  })),
  "push-retries-to-the-root": retrying("Retries go to the callback's host, at /.", (request) => ({
    ...request,
    url: new URL("/", request.url).href,
  })),
  "push-retries-as-text": retrying("Retries say that they are text.", typed("text/plain")),
  "push-retries-without-type": retrying("Retries do not say what they are.", typed(undefined)),
  "push-retries-in-envelope": defect(
    "In a retry the notification stands within an envelope.",
    ["push.same-notification", "push.payload"],
    (sound) => ({
      pushBody: (delivery, attempt, service) => {
        const body = sound.pushBody(delivery, attempt, service);
        return attempt === 1 ? body : `{"notification":${body}}`;
      },
    }),
  ),
  "push-payload-id-in-capitals": defect("The payload's id is written in capitals.", ["push.payload"], () => ({
    pushBody: ({ notification }) => JSON.stringify({ ...notification, id: notification.id.toUpperCase() }),
  })),
  "push-one-event-of-an-account-a-second": defect(
    "Of two events of an account within a second the later one is not pushed.",
    ["push.delivered"],
    () => {
      const latest = new Map<string, number>();
      return {
        pushesEvent: ({ accountId }, { clock }) => {
          const beforeMs = latest.get(accountId) ?? -Infinity;
          latest.set(accountId, clock.nowMs());
          return clock.nowMs() - beforeMs >= SECOND_MS;
        },
      };
    },
  ),
  "push-ends-once-read": defect(
    "What is read from the list is not pushed again.",
    ["push.unacknowledged-retries", "push.schedule"],
    (sound) => {
      let pending: PendingDeliveries | undefined;
      return {
        onNewDelivery: (_delivery, all) => {
          pending = all;
        },
        item: (notification, context) => {
          const read = pending?.all().find((delivery) => delivery.notification.id === notification.id);
          if (read !== undefined && read.attempts.length > 0) pending?.drop(read);
          return sound.item(notification, context);
        },
      };
    },
  ),
  "push-listed-a-minute-later": defect(
    "A notification is listed a minute after it is pushed.",
    ["push.listed"],
    () => ({ visibilityDelayMs: () => MINUTE_MS }),
  ),
  "push-not-listed-among-all-once-given-up": defect(
    "What was given up is listed by its id and its account only.",
    ["push.listed"],
    (sound) => {
      const gone: string[] = [];
      return {
        afterPush: (_outcome, delivery, _pending, service) => {
          const isLast = delivery.attempts.length >= sound.maxPushes(delivery, service);
          if (isLast && !delivery.acknowledged) gone.push(delivery.notification.id);
        },
        matching: (filters, viewer, context): ReturnType<Behaviour["matching"]> => {
          const { where, parameters } = sound.matching(filters, viewer, context);
          return gone.length === 0 || filters.id !== undefined || filters.accountId !== undefined
            ? { where, parameters }
            : {
                where: `${where} AND id NOT IN (SELECT value FROM json_each(?))`,
                parameters: [...parameters, JSON.stringify(gone)],
              };
        },
      };
    },
  ),
} satisfies Record<string, Defect>;
