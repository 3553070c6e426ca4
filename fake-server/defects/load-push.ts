import type { Behaviour, PendingDeliveries } from "../behaviour.ts";
import { listedDelayMs } from "../delivery/schedule.ts";
import { afterwards, change, type LoadShow, onlyWhen, type Replacement, rows } from "../registry.ts";

const pushes: LoadShow = { scenario: "push", rate: 150, seconds: 10 };

/**
 * More deliveries are pending after three seconds at 150 events per second, a fifth of which fail; the gate has fewer.
 */
const MANY = 64;

const LOCK_MS = 40;

/** Decisions that change while many deliveries are pending. */
const inCrowds =
  (replaces: (isCrowded: () => boolean, sound: Behaviour) => Partial<Behaviour>): Replacement =>
  (sound, pending?: PendingDeliveries) => {
    const { onNewDelivery, ...others } = replaces(() => (pending?.count() ?? 0) > MANY, sound);
    return {
      ...others,
      onNewDelivery: (delivery, all, service) => {
        pending = all;
        (onNewDelivery ?? sound.onNewDelivery)(delivery, all, service);
      },
    };
  };

/** What differs while many deliveries are pending. */
const crowded = (what: Replacement): Replacement =>
  inCrowds((isCrowded, sound) => onlyWhen(isCrowded, what)(sound));

/** Defects in pushes (section 6) when many are pending. */
export const loadPushDefects = {
  ...rows(
    {
      "push.unacknowledged-retries push.schedule": {
        "load-push-retry-queue-overflows: A retry is silently dropped if many deliveries are pending.":
          crowded({ pushesAgain: () => false }),
      },
      "push.delivered": {
        "load-push-outbox-overflows: An event is never pushed if many deliveries are pending.": afterwards(
          "onNewDelivery",
          (delivery, pending) => {
            if (pending.count() > MANY) pending.drop(delivery);
          },
        ),
      },
      "push.cap push.schedule": {
        "load-push-sixth-when-many: While many deliveries are pending, one push more than allowed is sent.":
          crowded(change("maxPushes", (usual) => usual + 1)),
      },
      "push.acknowledged-stops push.cap push.schedule": {
        "load-push-by-two-workers: While many deliveries are pending, a second worker sends the same pushes.":
          crowded({ pushCopies: () => 2 }),
      },
      "push.schedule": {
        "load-push-hurries-when-many: While many deliveries are pending, retries are sent after half their delay.":
          crowded(change("pushDelayMs", (usual) => usual / 2)),
        "load-push-holds-a-lock: Each push holds a lock for 40 ms that blocks the next one.": (
          _sound,
          held: readonly number[] = [],
        ) => ({
          // A push due later holds the lock only from then on, so that those before it find it free.
          pushNoticedMs: (dueMs, _attempt, { clock }) => {
            const ahead = held.filter((fromMs) => fromMs + LOCK_MS > clock.nowMs());
            const startMs = ahead.reduce(
              (freeMs, fromMs) => (Math.abs(fromMs - freeMs) < LOCK_MS ? fromMs + LOCK_MS : freeMs),
              dueMs,
            );
            held = [...ahead, startMs].toSorted((a, b) => a - b);
            return startMs;
          },
        }),
      },
      "push.payload": {
        "load-push-names-another-account: While many deliveries are pending, all pushes of an event carry an earlier event's account.":
          inCrowds((isCrowded, sound, named = new WeakMap<object, string>(), earlier: string[] = []) => ({
            onNewDelivery: (delivery, pending, service) => {
              const { accountId } = delivery.notification;
              if (isCrowded()) named.set(delivery, earlier.find((one) => one !== accountId) ?? accountId);
              earlier.push(accountId);
              sound.onNewDelivery(delivery, pending, service);
            },
            pushBody: (delivery, attempt, service) => {
              const accountId = named.get(delivery);
              return accountId === undefined
                ? sound.pushBody(delivery, attempt, service)
                : JSON.stringify({ ...delivery.notification, accountId });
            },
          })),
      },
      "push.same-notification push.payload": {
        "load-push-shares-a-buffer: While many deliveries are pending, pushes carry the latest event's account.":
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
    },
    { shownBy: pushes },
  ),
  // On a clock that stands still, what is late by a whole delay is late by a tick, as if its sender polled.
  ...rows(
    {
      "push.schedule": {
        "load-push-third-half-a-minute-late: While many deliveries are pending, third pushes come 30 s late.":
          crowded({ pushJitterMs: (attempt, service) => (attempt === 3 ? listedDelayMs(0, service) : 0) }),
      },
    },
    { shownBy: pushes, clockMode: "frozen" },
  ),
};
