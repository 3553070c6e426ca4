import { MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { PushOutcome } from "../pushes.ts";
import { decide, decisions, onlyIf, type Replacement, rows } from "../registry.ts";
import { asksFor, counted } from "./tools.ts";

const acknowledgedBy = (matches: (body: string) => boolean): Replacement =>
  onlyIf("acknowledges", (outcome) => outcome.kind === "answered" && matches(outcome.body));

const answeredWell = (outcome: PushOutcome | undefined): outcome is PushOutcome & { readonly body: string } =>
  outcome?.kind === "answered" && outcome.status === 200;

const isRefusing = (outcome: PushOutcome | undefined): boolean =>
  answeredWell(outcome) && /"received"\s*:\s*false/.test(outcome.body);
const isSilent = (outcome: PushOutcome | undefined): boolean => answeredWell(outcome) && outcome.body === "";

/** What databases, queues and frameworks do by themselves unless they are told otherwise. */
export const frameworkDefects = rows({
  "code.lifetime": {
    "code-lives-by-two-clocks: Every other check of a code is made by a node whose clock is three seconds ahead.":
      decisions((sound, checks = { count: 0 }) => ({
        codeIsAlive: (record, context) => {
          checks.count += 1;
          return sound.codeIsAlive(
            record,
            checks.count % 2 === 0 ? { ...context, nowMs: context.nowMs + 3 * SECOND_MS } : context,
          );
        },
      })),
  },
  "notifications.under-writes": {
    "writes-doubled-every-tenth: Every tenth event is delivered twice by the queue, and stored twice.":
      decisions((sound, events = { count: 0 }) => ({
        keepNotification: (notification, owner, service) => {
          sound.keepNotification(notification, owner, service);
          events.count += 1;
          if (events.count % 10 === 0)
            sound.keepNotification({ ...notification, id: service.random.uuid() }, owner, service);
        },
      })),
    "list-kept-for-a-minute-for-each-token: For a minute, a token gets the same answer to the same request.":
      decisions((_sound, kept = new Map<string, { readonly atMs: number; readonly fields: object }>()) => ({
        listFields: (items, total, context) => {
          const key = JSON.stringify([context.from.headers["x-service-access-token"], context.from.url]);
          const fields = { data: items, total };
          const old = kept.get(key);
          if (old !== undefined && context.nowMs - old.atMs < MINUTE_MS) return { ...old.fields };
          kept.set(key, { atMs: context.nowMs, fields });
          return fields;
        },
      })),
  },
  "notifications.limit": {
    "limit-cuts-last-page-if-full: The last page is omitted if it is full.": [
      decisions((sound) => ({
        readItems: async (selection, offset, paging, context) => {
          const items = await sound.readItems(selection, offset, paging, context);
          const matched = sound.countMatches(selection, context);
          return offset > 0 && offset + paging.limit === matched ? [] : items;
        },
      })),
      "notifications.pages-partition",
    ],
  },
  "notifications.past-the-end": {
    "past-the-end-of-an-id-again: With an id filter, every page holds the notification again.": decisions(
      (sound) => ({
        offsetOf: (paging, matched, context) =>
          asksFor("id", context) ? 0 : sound.offsetOf(paging, matched, context),
      }),
    ),
  },
  "push.listed": {
    "push-listed-to-the-second: The list shows createTime without the milliseconds that the push has.":
      decisions((sound) => ({
        item: (notification, context) => ({
          ...(sound.item(notification, context) as object),
          createTime: notification.createTime.replace(/\.\d+/, ".000"),
        }),
      })),
    "push-listed-in-steps-of-a-300th: The list shows createTime as SQL Server's datetime keeps it: milliseconds end with 0, 3 or 7.":
      decisions((sound) => ({
        item: (notification, context) => ({
          ...(sound.item(notification, context) as object),
          createTime: new Date(
            Math.round((Math.round((Date.parse(notification.createTime) * 3) / 10) * 10) / 3),
          ).toISOString(),
        }),
      })),
  },
  "push.acknowledged-stops": {
    'push-acknowledgement-without-a-space: An acknowledgement counts only if it is written "received":true, without a space.':
      acknowledgedBy((body) => body.includes('"received":true')),
    "push-acknowledgement-id-first: An acknowledgement counts only if it begins with the id.": acknowledgedBy(
      (body) => /^\s*\{\s*"id"/.test(body),
    ),
  },
  "push.cap": {
    "push-cap-not-for-what-was-not-received: Pushes answered with received: false do not count towards the cap.":
      decisions((sound, unreceived = counted()) => ({
        acknowledges: (outcome, delivery) => !isRefusing(outcome) && sound.acknowledges(outcome, delivery),
        maxPushes: (delivery, service) => {
          const last = delivery.attempts.at(-1)?.outcome;
          return sound.maxPushes(delivery, service) + (isRefusing(last) ? unreceived(delivery) : 0);
        },
      })),
    "push-cap-not-for-what-is-not-confirmed: Retries never stop after the expected code without a body.":
      decisions((sound) => ({
        acknowledges: (outcome, delivery) => !isSilent(outcome) && sound.acknowledges(outcome, delivery),
        maxPushes: (delivery, service) =>
          isSilent(delivery.attempts.at(-1)?.outcome) ? Infinity : sound.maxPushes(delivery, service),
      })),
  },
  "push.unacknowledged-retries": {
    "push-acknowledged-below-400-by-its-body: Any code below 400 counts if the body is an acknowledgement.":
      decide(
        "acknowledges",
        (outcome) =>
          outcome.kind === "answered" && outcome.status < 400 && /"received"\s*:\s*true/.test(outcome.body),
      ),
    "push-callback-off-after-fifty-failures: After fifty failures, the callback is disabled.": decisions(
      (sound, failures = { count: 0 }) => ({
        afterPush: (outcome, delivery, pending, service) => {
          sound.afterPush(outcome, delivery, pending, service);
          if (!delivery.acknowledged) failures.count += 1;
        },
        pushesAgain: (outcome, delivery, service) =>
          failures.count < 50 && sound.pushesAgain(outcome, delivery, service),
        pushesEvent: (notification, service) =>
          failures.count < 50 && sound.pushesEvent(notification, service),
      }),
    ),
  },
});
