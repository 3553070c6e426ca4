import { counted, sameAccount } from "../changes.ts";
import { anchors, listedDelayMs } from "../delivery/schedule.ts";
import type { Delivery } from "../pushes.ts";
import { keeping, onlyIf, type Replacement, rows } from "../registry.ts";

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

/** Defects with several concurrent notifications (sections 6 and 8). */
export const pushManyDefects = rows({
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
});
