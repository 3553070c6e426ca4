import type { Behaviour, PendingDeliveries } from "../behaviour.ts";
import { decisions, loadRows, type LoadShow, type Replacement } from "../registry.ts";

const pushes: LoadShow = { scenario: "push", rate: 150, seconds: 10 };

/** So many deliveries are pending after three seconds of 150 events of which a fifth fails; the gate has fewer. */
const MANY = 64;

/** Decisions that are taken otherwise while many deliveries are pending. */
const inCrowds = (
  replaces: (isCrowded: () => boolean, sound: Behaviour) => Partial<Behaviour>,
): Replacement =>
  decisions((sound) => {
    let pending: PendingDeliveries | undefined;
    const { onNewDelivery, ...others } = replaces(() => (pending?.count() ?? 0) > MANY, sound);
    return {
      ...others,
      onNewDelivery: (delivery, all, service) => {
        pending = all;
        (onNewDelivery ?? sound.onNewDelivery)(delivery, all, service);
      },
    };
  });

/** Pushes (section 6) gone wrong where many are pending. */
export const loadPushDefects = loadRows(pushes, {
  "push.unacknowledged-retries": {
    "load-push-retry-queue-overflows: A retry that finds many deliveries pending is dropped without a sign.":
      [
        inCrowds((isCrowded, sound) => ({
          pushesAgain: (...subject) => !isCrowded() && sound.pushesAgain(...subject),
        })),
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
    "load-push-sixth-when-many: While many deliveries are pending, a sixth push is sent.": [
      inCrowds((isCrowded, sound) => ({
        maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + (isCrowded() ? 1 : 0),
      })),
      "push.schedule",
    ],
  },
  "push.acknowledged-stops": {
    "load-push-by-two-workers: While many deliveries are pending, two workers send every push.": [
      inCrowds((isCrowded, sound) => ({
        pushCopies: (...subject) => sound.pushCopies(...subject) * (isCrowded() ? 2 : 1),
      })),
      "push.cap",
      "push.schedule",
    ],
  },
  "push.schedule": {
    "load-push-hurries-when-many: While many deliveries are pending, retries come after half their delay.":
      inCrowds((isCrowded, sound) => ({
        pushDelayMs: (...subject) => sound.pushDelayMs(...subject) * (isCrowded() ? 0.5 : 1),
      })),
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
    "load-push-shares-a-buffer: While many deliveries are pending, a push carries the latest account.":
      inCrowds((isCrowded, sound, latest = "") => ({
        onNewDelivery: (delivery, pending, service) => {
          sound.onNewDelivery(delivery, pending, service);
          latest = delivery.notification.accountId;
        },
        pushBody: (delivery, attempt, service) =>
          isCrowded()
            ? JSON.stringify({ ...delivery.notification, accountId: latest })
            : sound.pushBody(delivery, attempt, service),
      })),
  },
});
