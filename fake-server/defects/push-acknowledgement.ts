import type { Delivery } from "../delivery/delivery.ts";
import { redirectOf } from "../delivery/redirect.ts";
import { listedDelayMs } from "../delivery/schedule.ts";
import { type Defect, defect } from "../registry.ts";
import { statusOf } from "../sound/delivery.ts";

/** What ends the pushes of a notification (section 6), gone wrong. */
export const pushAcknowledgementDefects = {
  "push-ignores-acknowledgements": defect(
    "Five pushes are sent whatever the receiver answers.",
    ["push.acknowledged-stops", "push.late-acknowledgement"],
    () => ({ pushesAgain: () => true }),
  ),
  "push-resent-once-after-acknowledgement": defect(
    "The retry that was planned with the first push is sent even though that was acknowledged.",
    ["push.acknowledged-stops", "push.late-acknowledgement"],
    (sound) => ({
      pushesAgain: (outcome, delivery, service) =>
        delivery.attempts.length < 2 || sound.pushesAgain(outcome, delivery, service),
    }),
  ),
  "push-reminder-after-acknowledgement": defect(
    "What was acknowledged at once is pushed once more after eleven minutes.",
    ["push.acknowledged-stops", "push.late-acknowledgement"],
    (sound) => ({
      pushDelayMs: (attempt, delivery, service) =>
        delivery.acknowledged
          ? 22 * listedDelayMs(0, service)
          : sound.pushDelayMs(attempt, delivery, service),
      pushesAgain: (outcome, delivery, service) =>
        sound.pushesAgain(outcome, delivery, service) || delivery.attempts.length === 1,
    }),
  ),
  "push-acknowledged-by-202-alone": defect(
    "The expected return code is set to 202.",
    ["push.acknowledged-stops", "push.late-acknowledgement"],
    () => ({ acknowledges: (outcome) => statusOf(outcome) === 202 }),
  ),
  "push-acknowledgement-needs-received-as-text": defect(
    'The acknowledgement counts only with "true" as a string.',
    ["push.acknowledged-stops", "push.late-acknowledgement"],
    (sound) => ({
      acknowledges: (outcome, delivery) =>
        sound.acknowledges(outcome, delivery) &&
        outcome.kind === "answered" &&
        /"received"\s*:\s*"true"/.test(outcome.body),
    }),
  ),
  "push-acknowledgement-counts-on-first-push-only": defect(
    "The acknowledgement of a retry is not looked at.",
    ["push.late-acknowledgement"],
    (sound) => ({
      acknowledges: (outcome, delivery) =>
        delivery.attempts.length === 1 && sound.acknowledges(outcome, delivery),
    }),
  ),
  "push-acknowledgement-lost-at-third-push": defect(
    "The acknowledgement of the third push is lost.",
    ["push.late-acknowledgement"],
    (sound) => ({
      acknowledges: (outcome, delivery) =>
        delivery.attempts.length !== 3 && sound.acknowledges(outcome, delivery),
    }),
  ),
  "push-sixth-after-late-acknowledgement": defect(
    "When the fifth push is acknowledged, the notification is pushed once more.",
    ["push.late-acknowledgement", "push.cap"],
    (sound) => ({
      maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + (delivery.acknowledged ? 1 : 0),
      pushesAgain: (outcome, delivery, service) =>
        delivery.attempts.length === 5 || sound.pushesAgain(outcome, delivery, service),
    }),
  ),

  "push-redirect-taken-for-success": defect(
    "Answers up to 399 count as success.",
    ["push.unacknowledged-retries"],
    () => ({
      acknowledges: (outcome) => {
        const status = statusOf(outcome);
        return status !== undefined && status < 400;
      },
    }),
  ),
  "push-any-answer-taken-for-success": defect(
    "An answer is an acknowledgement, whatever its status.",
    ["push.unacknowledged-retries"],
    () => ({ acknowledges: ({ kind }) => kind === "answered" }),
  ),
  "push-half-an-answer-taken-for-success": defect(
    "The status line is enough, even when the connection breaks within the body.",
    ["push.unacknowledged-retries"],
    (sound) => ({
      acknowledges: (outcome, delivery) => outcome.kind === "cut" || sound.acknowledges(outcome, delivery),
    }),
  ),
  "push-no-answer-taken-for-success": defect(
    "A push that was sent and not answered in time counts as delivered.",
    ["push.unacknowledged-retries"],
    (sound) => ({
      acknowledges: (outcome, delivery) =>
        outcome.kind === "timed-out" || sound.acknowledges(outcome, delivery),
    }),
  ),
  "push-redirect-turns-post-into-get": defect(
    "A redirect is followed with a GET, and with that the push counts as successful.",
    ["push.unacknowledged-retries"],
    (sound) => {
      const followed = new WeakSet<Delivery>();
      return {
        requestAfter: (outcome, request, delivery) => {
          const url = redirectOf(outcome, request);
          if (url === undefined) return undefined;
          followed.add(delivery);
          return { ...request, url, method: "GET", body: undefined };
        },
        acknowledges: (outcome, delivery) => followed.has(delivery) || sound.acknowledges(outcome, delivery),
      };
    },
  ),
} satisfies Record<string, Defect>;
