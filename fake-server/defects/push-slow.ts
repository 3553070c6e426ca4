import type { Delivery, PushFailure, PushOutcome } from "../delivery/delivery.ts";
import { anchors, listedDelayMs } from "../delivery/schedule.ts";
import type { Service } from "../context.ts";
import { type Defect, defect } from "../registry.ts";
import { statusOf } from "../sound/delivery.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "./tools.ts";

/** How many pushes of a notification ended so. */
const ended = ({ attempts }: Delivery, kind: PushFailure): number =>
  attempts.filter(({ outcome }) => outcome?.kind === kind).length;

const endedLast = ({ attempts }: Delivery, kind: PushFailure): boolean =>
  attempts.at(-1)?.outcome?.kind === kind;

/** Retries after failures of one kind wait for another time than the document's. */
const delayingAfter = (
  summary: string,
  kind: PushFailure,
  changed: (delayMs: number, service: Service) => number,
): Defect =>
  defect(summary, ["push.schedule"], (sound) => ({
    pushDelayMs: (attempt, delivery, service) => {
      const delayMs = sound.pushDelayMs(attempt, delivery, service);
      return endedLast(delivery, kind) ? changed(delayMs, service) : delayMs;
    },
  }));

/** Gives up where it should not. */
const givingUp = (summary: string, gives: (outcome: PushOutcome, delivery: Delivery) => boolean): Defect =>
  defect(summary, ["push.unacknowledged-retries"], (sound) => ({
    pushesAgain: (outcome, delivery, service) =>
      !gives(outcome, delivery) && sound.pushesAgain(outcome, delivery, service),
  }));

const statusFinal = (summary: string, statuses: readonly number[]): Defect =>
  givingUp(summary, (outcome) => statuses.includes(statusOf(outcome) ?? 0));

/** One push more, long after the others. */
const oneMoreAfter = (summary: string, afterMs: number): Defect =>
  defect(summary, ["push.cap"], (sound) => ({
    maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + 1,
    pushDelayMs: (attempt, delivery, service) =>
      attempt > sound.maxPushes(delivery, service) ? afterMs : sound.pushDelayMs(attempt, delivery, service),
  }));

/** Other statuses than those that everybody thinks of. */
const seldom = [
  402, 403, 406, 407, 409, 411, 412, 414, 415, 416, 417, 418, 421, 423, 424, 425, 426, 428, 431,
];

/** Failures that take their time, that nobody sees, or that are seldom (section 6), gone wrong; and pushes long after the last. */
export const pushSlowDefects = {
  "push-cap-not-for-timeouts": defect(
    "A notification whose pushes get no answer is pushed twelve times.",
    ["push.cap", "push.schedule"],
    (sound) => ({
      maxPushes: (delivery, service) =>
        ended(delivery, "timed-out") === delivery.attempts.length ? 12 : sound.maxPushes(delivery, service),
    }),
  ),
  "push-third-timeout-final": givingUp(
    "After three pushes without an answer the notification is given up.",
    (_outcome, delivery) => ended(delivery, "timed-out") >= 3,
  ),
  "push-timeout-doubles-delay": delayingAfter(
    "After a push without an answer the delay is twice as long.",
    "timed-out",
    (delayMs) => 2 * delayMs,
  ),
  "push-timeout-repeated-at-once": delayingAfter(
    "After a push without an answer the next one is sent at once.",
    "timed-out",
    () => 0,
  ),
  "push-timeout-counts-from-event": defect(
    "After a push without an answer delays count from the event.",
    ["push.schedule"],
    (sound) => ({
      pushAnchorMs: (delivery, service) =>
        ended(delivery, "timed-out") > 0 ? anchors.event(delivery) : sound.pushAnchorMs(delivery, service),
    }),
  ),
  "push-acknowledgement-after-timeout-ignored": defect(
    "What once got no answer is pushed on, whatever it gets later.",
    ["push.late-acknowledgement"],
    (sound) => ({
      acknowledges: (outcome, delivery) =>
        ended(delivery, "timed-out") === 0 && sound.acknowledges(outcome, delivery),
    }),
  ),
  "push-refused-connection-repeated-soon": delayingAfter(
    "A refused connection is tried again after five seconds.",
    "refused",
    () => 5 * SECOND_MS,
  ),
  "push-refused-connection-not-counted": defect(
    "A refused connection counts as no push, and its delay comes twice.",
    ["push.schedule"],
    (sound) => ({
      maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + ended(delivery, "refused"),
      pushDelayMs: (attempt, delivery, service) =>
        attempt === 1 ? 0 : listedDelayMs(Math.max(0, attempt - 2 - ended(delivery, "refused")), service),
    }),
  ),
  "push-refused-connection-costs-a-push": defect(
    "After a refused connection there is one push less.",
    ["push.unacknowledged-retries", "push.schedule"],
    (sound) => ({
      maxPushes: (delivery, service) =>
        sound.maxPushes(delivery, service) - Math.min(1, ended(delivery, "refused")),
    }),
  ),
  "push-second-kind-of-failure-final": givingUp(
    "After a failed connection and a bad status the notification is given up.",
    (_outcome, { attempts }) => new Set(attempts.map(({ outcome }) => outcome?.kind)).size > 1,
  ),
  "push-408-final": statusFinal("After 408 the notification is given up.", [408]),
  "push-422-final": statusFinal("After 422 the notification is given up.", [422]),
  "push-501-final": statusFinal("After 501 the notification is given up.", [501]),
  "push-seldom-status-final": statusFinal("After a 4xx that is seldom the notification is given up.", [
    ...seldom,
    451,
  ]),
  "push-retry-after-obeyed": defect(
    "Retry-After takes the place of the delay.",
    ["push.schedule"],
    (sound) => ({
      pushDelayMs: (attempt, delivery, service) => {
        const outcome = delivery.attempts.at(-1)?.outcome;
        const seconds = outcome?.kind === "answered" ? Number(outcome.headers["retry-after"]) : NaN;
        return Number.isNaN(seconds) ? sound.pushDelayMs(attempt, delivery, service) : seconds * SECOND_MS;
      },
    }),
  ),
  "push-all-delays-quarter-too-long": defect(
    "Every delay is a quarter too long.",
    ["push.schedule"],
    (sound) => ({
      pushDelayMs: (attempt, delivery, service) => 1.25 * sound.pushDelayMs(attempt, delivery, service),
    }),
  ),
  "push-sixth-after-an-hour": oneMoreAfter("A sixth push follows an hour after the fifth.", HOUR_MS),
  "push-sixth-on-the-next-day": oneMoreAfter("A sixth push follows a day after the fifth.", DAY_MS),
} satisfies Record<string, Defect>;
