import { HOUR_MS, MINUTE_MS } from "../../conformance/contract/duration.ts";
import { counted, sameAccount } from "../changes.ts";
import type { Service, Delivery } from "../context.ts";
import { anchors, listedDelayMs, readings } from "../delivery/schedule.ts";
import { change, keeping, onlyIf, type Replacement, rows } from "../registry.ts";

/** Other delays between pushes, in units of the document's first one. */
const delaying = (units: (retry: number) => number): Replacement => ({
  pushDelayMs: (attempt, _delivery, service) =>
    attempt === 1 ? 0 : units(attempt - 1) * listedDelayMs(0, service),
});

const REGULAR = [1, 2, 4, 8];
const regular = (retry: number): number => REGULAR[retry - 1] ?? 16;

/** Shortens the delay by a share of it, at most by `atMost`. */
const early =
  (atMost: number) =>
  (attempt: number, service: Service): number =>
    attempt === 1
      ? 0
      : -Math.round(
          listedDelayMs(attempt - 2, service) * atMost * (0.5 + (service.random.uint32() % 512) / 1024),
        );

const RECYCLE_MS = 100_000;

/** Delays that reach beyond the present hour, or other period, are different. */
const beyond =
  (periodMs: number, changed: (attempt: number, delayMs: number) => number): Replacement =>
  (sound) => ({
    pushDelayMs: (attempt, delivery, service) => {
      const delayMs = sound.pushDelayMs(attempt, delivery, service);
      const fromMs = sound.pushAnchorMs(delivery, service);
      const isWithin = Math.floor(fromMs / periodMs) === Math.floor((fromMs + delayMs) / periodMs);
      return isWithin ? delayMs : changed(attempt, delayMs);
    },
  });

/** Another event of the same account, or of any, restarts pending schedules. */
const restarting =
  (concerns: (one: Delivery, other: Delivery) => boolean): Replacement =>
  (sound, restarted = new WeakMap<Delivery, number>()) => ({
    pushAnchorMs: (delivery, service) =>
      Math.max(sound.pushAnchorMs(delivery, service), restarted.get(delivery) ?? 0),
    onNewDelivery: (delivery, pending, service) => {
      for (const other of pending.all()) {
        if (other === delivery || other.attempts.length === 0 || !concerns(other, delivery)) continue;
        restarted.set(other, service.clock.nowMs());
        pending.replan(other);
      }
    },
  });

/** A retry budget shared by several notifications. */
const sharing = (groupOf: (delivery: Delivery) => string, retries: number): Replacement =>
  keeping((used = counted(new Map())) =>
    onlyIf("pushesAgain", (_outcome, delivery) => used(groupOf(delivery)) <= retries),
  );

/** The end of one notification's pushes ends those of others of its account. */
const ending = (ends: (delivery: Delivery) => boolean): Replacement => ({
  afterPush: (_outcome, delivery, pending) => {
    if (!ends(delivery)) return;
    for (const other of pending.all())
      if (other !== delivery && sameAccount(delivery, other)) pending.drop(other);
  },
});

/** Defects in when pushes are sent, also of several notifications (sections 6 and 8). */
export const pushScheduleDefects = {
  ...rows({
    "push.schedule": {
      "push-delays-skip-the-first: Retries skip the first delay.": delaying((retry) => regular(retry + 1)),
      "push-delay-always-longest: Every retry has the longest delay.": delaying(() => 8),
      "push-delays-in-wrong-unit: Delays in seconds are interpreted as milliseconds.": delaying(
        (retry) => regular(retry) / 1_000,
      ),
      "push-delays-in-minutes: Delays are in minutes.": delaying((retry) => regular(retry) * 60),
      "push-delays-reversed: Delays are in reverse order.": delaying((retry) => regular(5 - retry)),
      "push-delays-linear: Delays grow linearly.": delaying((retry) => retry),
      "push-delay-third-too-long: The third delay is 25 % too long.": delaying((retry) =>
        retry === 3 ? 5 : regular(retry),
      ),
      "push-delay-last-too-short: The last delay is thirty seconds too short.": delaying((retry) =>
        retry === 4 ? 7 : regular(retry),
      ),
      "push-third-without-its-body: The body is a stream that the first pushes have consumed, so the third has none.":
        change("pushBody", (body, _delivery, attempt) => (attempt === 3 ? "" : body)),
      "push-jitter-slightly-early: Retries are up to 5 % of their delay early.": {
        pushJitterMs: early(0.05),
      },
      "push-retries-noticed-once-in-two-minutes: A worker looks for due retries every two minutes.": {
        pushNoticedMs: (dueMs, attempt) =>
          attempt === 1 ? dueMs : Math.ceil(dueMs / (2 * MINUTE_MS)) * 2 * MINUTE_MS,
      },
      "push-first-after-a-minute-and-a-half: The first push is sent when the second one should be over.":
        change("pushDelayMs", (delayMs, attempt, _delivery, service) =>
          attempt === 1 ? 3 * listedDelayMs(0, service) : delayMs,
        ),
      "push-last-retry-never-sent: The last retry is scheduled but never sent.": change(
        "maxPushes",
        (usual) => usual - 1,
      ),
      "push-retries-lost-on-recycling: A worker recycled every 100 s forgets its retries.": beyond(
        RECYCLE_MS,
        (attempt, delayMs) => (attempt === 1 ? delayMs : Infinity),
      ),
    },
    "push.schedule push.cap": {
      "push-reading-r5-from-start: Five retries, delays from the latest start (reading R5).": readings.r5(
        anchors.startOfLatest,
      ),
      "push-reading-r5-from-failure: Five retries, delays from the latest failure (reading R5).": readings.r5(
        anchors.endOfLatest,
      ),
      "push-reading-r6-from-start: Five retries, delays from the first start (reading R6).": readings.r6(
        anchors.startOfFirst,
      ),
      "push-reading-r6-from-failure: Five retries, delays from the first failure (reading R6).": readings.r6(
        anchors.endOfFirst,
      ),
      "push-reading-r7-from-start: Five retries, at most 240 s after the latest start (reading R7).":
        readings.r7(anchors.startOfLatest),
      "push-reading-r7-from-failure: Five retries, at most 240 s after the latest failure (reading R7).":
        readings.r7(anchors.endOfLatest),
      "push-without-end: The longest delay is repeated without end.": {
        ...readings.r7(anchors.endOfLatest),
        maxPushes: () => Infinity,
      },
      "push-two-workers: Two workers each send every push.": { pushCopies: () => 2 },
      "push-two-workers-once: Two workers both send the third push.": {
        pushCopies: (_delivery, attempt) => (attempt === 3 ? 2 : 1),
      },
    },
    "push.independent-schedules": {
      "push-schedule-restarted-by-event-of-account: An event restarts its account's pending delays.":
        restarting(sameAccount),
      "push-schedule-restarted-by-any-event: An event restarts the delays of all pending notifications.":
        restarting(() => true),
      "push-cap-shared-by-all: All notifications share forty retries.": sharing(() => "all", 40),
      "push-cap-shared-by-account: The notifications of an account share five retries.": sharing(
        ({ notification }) => notification.accountId,
        5,
      ),
      "push-acknowledgement-ends-account: An acknowledgement ends all pending notifications of its account.":
        ending(({ acknowledged }) => acknowledged),
      "push-giving-up-ends-account: Giving up a notification ends all pending notifications of its account.":
        ending(({ acknowledged, attempts }) => !acknowledged && attempts.length >= 5),
      "push-new-event-replaces-pending: An event replaces its account's pending notifications.": {
        onNewDelivery: (delivery, pending) => {
          for (const other of pending.all())
            if (other !== delivery && sameAccount(other, delivery)) pending.drop(other);
        },
      },
      "push-delays-counted-per-receiver: Delays grow with the failures of the receiver, not of the notification.":
        (sound, failures = 0) => ({
          afterPush: (_outcome, { acknowledged }) => {
            failures = acknowledged ? 0 : failures + 1;
          },
          pushDelayMs: (attempt, delivery, service) =>
            attempt === 1
              ? sound.pushDelayMs(attempt, delivery, service)
              : listedDelayMs(Math.min(Math.max(failures, 1), 4) - 1, service),
        }),
      "push-retries-keyed-by-account-and-moment: Of the retries of an account that are due at the same moment, only one is kept.":
        (sound, taken = new Map<string, Delivery>()) => ({
          pushDelayMs: (attempt, delivery, service) => {
            const delayMs = sound.pushDelayMs(attempt, delivery, service);
            if (attempt === 1) return delayMs;
            const dueMs = sound.pushAnchorMs(delivery, service) + delayMs;
            const key = `${delivery.notification.accountId} ${dueMs}`;
            const first = taken.get(key) ?? delivery;
            taken.set(key, first);
            return first === delivery ? delayMs : Infinity;
          },
        }),
      "push-retries-in-one-batch: Retries of an account wait until its latest one is due.": (
        _sound,
        latest = new Map<string, number>(),
      ) => ({
        pushAnchorMs: (delivery) =>
          Math.max(anchors.endOfLatest(delivery), latest.get(delivery.notification.accountId) ?? 0),
        afterPush: (_outcome, delivery, pending) => {
          if (delivery.acknowledged) return;
          latest.set(delivery.notification.accountId, anchors.endOfLatest(delivery));
          for (const other of pending.all())
            if (other !== delivery && sameAccount(other, delivery)) pending.replan(other);
        },
      }),
    },
    "push.unacknowledged-retries": {
      "push-no-retries-once-account-acknowledged: After an acknowledgement, failing pushes of later events of its account are not repeated.":
        (sound, reached = new Map<string, number>()) => ({
          pushesAgain: (outcome, delivery, service) => {
            const { accountId } = delivery.notification;
            if (delivery.acknowledged && !reached.has(accountId)) reached.set(accountId, delivery.sequence);
            const isLater = delivery.sequence > (reached.get(accountId) ?? Infinity);
            return !isLater && sound.pushesAgain(outcome, delivery, service);
          },
        }),
    },
  }),

  // The first push run crosses the end of an hour.
  ...rows(
    {
      "push.schedule": {
        "push-minutes-without-carry: Minutes are added to a time without carrying the hour: a retry due in the next hour leaves at once.":
          beyond(HOUR_MS, () => 0),
      },
    },
    { startTimeMs: Date.UTC(2026, 0, 1, 0, 50) },
  ),
};
