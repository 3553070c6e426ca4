import type { Behaviour, PendingDeliveries } from "../behaviour.ts";
import { type LoadDefect, loadDefect, type LoadShow } from "../registry.ts";

const pushes: LoadShow = { scenario: "push", rate: 150, seconds: 10 };

/** So many deliveries are pending after three seconds of 150 events of which a fifth fails; the gate has fewer. */
const MANY = 64;

/** Watches how many deliveries are pending. */
const crowding = (sound: Behaviour) => {
  let pending: PendingDeliveries | undefined;
  const watch: Behaviour["onNewDelivery"] = (delivery, all, service) => {
    pending = all;
    sound.onNewDelivery(delivery, all, service);
  };
  return { watch, isCrowded: (): boolean => (pending?.count() ?? 0) > MANY };
};

/** Pushes (section 6) gone wrong where many are pending. */
export const loadPushDefects = {
  "load-push-retry-queue-overflows": loadDefect(
    "A retry that finds many deliveries pending is dropped, and nobody is told.",
    ["push.unacknowledged-retries"],
    pushes,
    (sound) => {
      const { watch, isCrowded } = crowding(sound);
      return {
        onNewDelivery: watch,
        pushesAgain: (...subject) => !isCrowded() && sound.pushesAgain(...subject),
      };
    },
  ),
  "load-push-outbox-overflows": loadDefect(
    "An event that finds many deliveries pending is never pushed.",
    ["push.delivered"],
    pushes,
    (sound) => ({
      onNewDelivery: (delivery, pending, service) => {
        sound.onNewDelivery(delivery, pending, service);
        if (pending.count() > MANY) pending.drop(delivery);
      },
    }),
  ),
  "load-push-sixth-when-many": loadDefect(
    "While many deliveries are pending, a push is counted too late and one more follows.",
    ["push.cap"],
    pushes,
    (sound) => {
      const { watch, isCrowded } = crowding(sound);
      return {
        onNewDelivery: watch,
        maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + (isCrowded() ? 1 : 0),
      };
    },
  ),
  "load-push-by-two-workers": loadDefect(
    "While many deliveries are pending, a second worker helps and sends the same pushes.",
    ["push.acknowledged-stops", "push.cap"],
    pushes,
    (sound) => {
      const { watch, isCrowded } = crowding(sound);
      return {
        onNewDelivery: watch,
        pushCopies: (...subject) => sound.pushCopies(...subject) * (isCrowded() ? 2 : 1),
      };
    },
  ),
  "load-push-hurries-when-many": loadDefect(
    "While many deliveries are pending, retries come after half their delay.",
    ["push.schedule"],
    pushes,
    (sound) => {
      const { watch, isCrowded } = crowding(sound);
      return {
        onNewDelivery: watch,
        pushDelayMs: (...subject) => sound.pushDelayMs(...subject) * (isCrowded() ? 0.5 : 1),
      };
    },
  ),
  "load-push-shares-a-buffer": loadDefect(
    "While many deliveries are pending, a push carries the account of the event that came last.",
    ["push.same-notification"],
    pushes,
    (sound) => {
      const { watch, isCrowded } = crowding(sound);
      let latest = "";
      return {
        onNewDelivery: (delivery, pending, service) => {
          watch(delivery, pending, service);
          latest = delivery.notification.accountId;
        },
        pushBody: (delivery, attempt, service) => {
          if (!isCrowded()) return sound.pushBody(delivery, attempt, service);
          return JSON.stringify({ ...delivery.notification, accountId: latest });
        },
      };
    },
  ),
  "load-push-holds-a-lock": loadDefect(
    "Each push holds a lock for forty milliseconds, and the next one waits for it.",
    ["push.schedule"],
    pushes,
    () => {
      let freeAtMs = 0;
      return {
        pushNoticedMs: (dueMs) => {
          const startMs = Math.max(dueMs, freeAtMs);
          freeAtMs = startMs + 40;
          return startMs;
        },
      };
    },
  ),
} satisfies Record<string, LoadDefect>;
