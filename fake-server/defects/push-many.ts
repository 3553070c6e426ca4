import type { Delivery } from "../delivery/delivery.ts";
import { anchors, listedDelayMs } from "../delivery/schedule.ts";
import { type Defect, defect } from "../registry.ts";

const sameAccount = (one: Delivery, other: Delivery): boolean =>
  one.notification.accountId === other.notification.accountId;

/** Another event of the same account, or of any, starts the pending schedules again. */
const restarting = (summary: string, concerns: (one: Delivery, other: Delivery) => boolean): Defect =>
  defect(summary, ["push.independent-schedules"], (sound) => {
    const restarted = new WeakMap<Delivery, number>();
    return {
      pushAnchorMs: (delivery, service) =>
        Math.max(sound.pushAnchorMs(delivery, service), restarted.get(delivery) ?? 0),
      onNewDelivery: (delivery, pending, service) => {
        for (const other of pending.all()) {
          if (other === delivery || other.attempts.length === 0 || !concerns(other, delivery)) continue;
          restarted.set(other, service.clock.nowMs());
          pending.replan(other);
        }
      },
    };
  });

/** One count of retries for several notifications. */
const sharing = (summary: string, groupOf: (delivery: Delivery) => string, retries: number): Defect =>
  defect(summary, ["push.independent-schedules"], (sound) => {
    const used = new Map<string, number>();
    return {
      pushesAgain: (outcome, delivery, service) => {
        if (!sound.pushesAgain(outcome, delivery, service)) return false;
        const group = groupOf(delivery);
        const count = (used.get(group) ?? 0) + 1;
        used.set(group, count);
        return count <= retries;
      },
    };
  });

/** The end of one notification's pushes ends those of others. */
const ending = (
  summary: string,
  ends: (delivery: Delivery) => boolean,
  concerns: (one: Delivery, other: Delivery) => boolean,
): Defect =>
  defect(summary, ["push.independent-schedules"], () => ({
    afterPush: (_outcome, delivery, pending) => {
      if (!ends(delivery)) return;
      for (const other of pending.all()) {
        if (other !== delivery && concerns(delivery, other)) pending.drop(other);
      }
    },
  }));

/** Several notifications at once (sections 6 and 8), gone wrong. */
export const pushManyDefects = {
  "push-schedule-restarted-by-event-of-account": restarting(
    "A new event of an account starts the delays of its pending notifications again.",
    sameAccount,
  ),
  "push-schedule-restarted-by-any-event": restarting(
    "A new event starts the delays of all pending notifications again.",
    () => true,
  ),
  "push-cap-shared-by-all": sharing("Forty retries are shared by all notifications.", () => "all", 40),
  "push-cap-shared-by-account": sharing(
    "Five retries are shared by the notifications of an account.",
    ({ notification }) => notification.accountId,
    5,
  ),
  "push-acknowledgement-ends-account": ending(
    "An acknowledgement ends all pending notifications of its account.",
    ({ acknowledged }) => acknowledged,
    sameAccount,
  ),
  "push-giving-up-ends-account": ending(
    "When one notification is given up, so are all pending ones of its account.",
    ({ acknowledged, attempts }) => !acknowledged && attempts.length >= 5,
    sameAccount,
  ),
  "push-new-event-replaces-pending": defect(
    "A new event of an account takes the place of its pending notifications.",
    ["push.independent-schedules"],
    () => ({
      onNewDelivery: (delivery, pending) => {
        for (const other of pending.all()) {
          if (other !== delivery && sameAccount(other, delivery)) pending.drop(other);
        }
      },
    }),
  ),
  "push-delays-counted-per-receiver": defect(
    "Delays grow with the failures in a row of the receiver, not of the notification.",
    ["push.independent-schedules"],
    (sound) => {
      let failures = 0;
      return {
        afterPush: (_outcome, { acknowledged }) => {
          failures = acknowledged ? 0 : failures + 1;
        },
        pushDelayMs: (attempt, delivery, service) =>
          attempt === 1
            ? sound.pushDelayMs(attempt, delivery, service)
            : listedDelayMs(Math.min(Math.max(failures, 1), 4) - 1, service),
      };
    },
  ),
  "push-retries-in-one-batch": defect(
    "Retries of an account wait for one another, and are sent when the latest of them is due.",
    ["push.independent-schedules"],
    () => {
      const latest = new Map<string, number>();
      return {
        pushAnchorMs: (delivery) =>
          Math.max(anchors.endOfLatest(delivery), latest.get(delivery.notification.accountId) ?? 0),
        afterPush: (_outcome, delivery, pending) => {
          if (delivery.acknowledged) return;
          latest.set(delivery.notification.accountId, anchors.endOfLatest(delivery));
          for (const other of pending.all()) {
            if (other !== delivery && sameAccount(other, delivery)) pending.replan(other);
          }
        },
      };
    },
  ),
} satisfies Record<string, Defect>;
