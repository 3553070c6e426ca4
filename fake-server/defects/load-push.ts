import type { Behaviour, PendingDeliveries } from "../behaviour.ts";
import { decisions, loadRows, type LoadShow } from "../registry.ts";

const pushes: LoadShow = { scenario: "push", rate: 150, seconds: 10 };

/** So many deliveries are pending after three seconds of 150 events of which a fifth fails; the gate has fewer. */
const MANY = 64;

const crowding = (sound: Behaviour) => {
  let pending: PendingDeliveries | undefined;
  const watch: Behaviour["onNewDelivery"] = (delivery, all, service) => {
    pending = all;
    sound.onNewDelivery(delivery, all, service);
  };
  return { watch, isCrowded: (): boolean => (pending?.count() ?? 0) > MANY };
};

/** Pushes (section 6) gone wrong where many are pending. */
export const loadPushDefects = loadRows(pushes, {
  "push.unacknowledged-retries": {
    "load-push-retry-queue-overflows: A retry that finds many deliveries pending is dropped without a sign.":
      [
        decisions((sound) => {
          const { watch, isCrowded } = crowding(sound);
          return {
            onNewDelivery: watch,
            pushesAgain: (...subject) => !isCrowded() && sound.pushesAgain(...subject),
          };
        }),
        "push.schedule",
      ],
  },
  "push.delivered": {
    "load-push-outbox-overflows: An event that finds many deliveries pending is never pushed.": decisions(
      (sound) => ({
        onNewDelivery: (delivery, pending, service) => {
          sound.onNewDelivery(delivery, pending, service);
          if (pending.count() > MANY) pending.drop(delivery);
        },
      }),
    ),
  },
  "push.cap": {
    "load-push-sixth-when-many: While many deliveries are pending, a push is counted too late and one more follows.":
      [
        decisions((sound) => {
          const { watch, isCrowded } = crowding(sound);
          return {
            onNewDelivery: watch,
            maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + (isCrowded() ? 1 : 0),
          };
        }),
        "push.schedule",
      ],
  },
  "push.acknowledged-stops": {
    "load-push-by-two-workers: While many deliveries are pending, a second worker helps and sends the same pushes.":
      [
        decisions((sound) => {
          const { watch, isCrowded } = crowding(sound);
          return {
            onNewDelivery: watch,
            pushCopies: (...subject) => sound.pushCopies(...subject) * (isCrowded() ? 2 : 1),
          };
        }),
        "push.cap",
        "push.schedule",
      ],
  },
  "push.schedule": {
    "load-push-hurries-when-many: While many deliveries are pending, retries come after half their delay.":
      decisions((sound) => {
        const { watch, isCrowded } = crowding(sound);
        return {
          onNewDelivery: watch,
          pushDelayMs: (...subject) => sound.pushDelayMs(...subject) * (isCrowded() ? 0.5 : 1),
        };
      }),
    "load-push-holds-a-lock: Each push holds a lock for forty milliseconds, and the next one waits for it.":
      decisions((_sound, freeAtMs = 0) => ({
        pushNoticedMs: (dueMs) => {
          const startMs = Math.max(dueMs, freeAtMs);
          freeAtMs = startMs + 40;
          return startMs;
        },
      })),
  },
  "push.same-notification": {
    "load-push-shares-a-buffer: While many deliveries are pending, a push carries the account of the event that came last.":
      decisions((sound) => {
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
      }),
  },
});
