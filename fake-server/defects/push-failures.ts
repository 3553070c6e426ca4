import type { Delivery, PushFailure, PushOutcome } from "../delivery/delivery.ts";
import { redirectOf } from "../delivery/redirect.ts";
import { type Defect, defect } from "../registry.ts";
import { statusOf } from "../sound/delivery.ts";
import { SECOND_MS } from "./tools.ts";

/** Gives up after pushes that ended in certain ways. */
const final = (summary: string, isFinal: (outcome: PushOutcome, delivery: Delivery) => boolean): Defect =>
  defect(summary, ["push.unacknowledged-retries"], (sound) => ({
    pushesAgain: (outcome, delivery, service) =>
      !isFinal(outcome, delivery) && sound.pushesAgain(outcome, delivery, service),
  }));

const finalFailure = (summary: string, kind: PushFailure): Defect =>
  final(summary, (outcome) => outcome.kind === kind);

const statusIn =
  (from: number, to: number) =>
  (outcome: PushOutcome): boolean => {
    const status = statusOf(outcome);
    return status !== undefined && status >= from && status <= to;
  };

/** Follows redirects of these statuses with the payload. */
const following = (summary: string, statuses: readonly number[]): Defect =>
  defect(summary, ["push.redirects"], () => ({
    requestAfter: (outcome, request) => {
      const url = redirectOf(outcome, request);
      return url === undefined || !statuses.includes(statusOf(outcome) ?? 0)
        ? undefined
        : { ...request, url };
    },
  }));

/** Which failures lead to another push (section 6), and how a sender guards itself, gone wrong. */
export const pushFailureDefects = {
  "push-4xx-final": final("After any 4xx the notification is given up.", statusIn(400, 499)),
  "push-410-final": final("After 410 the notification is given up.", statusIn(410, 410)),
  "push-5xx-final": final("After any 5xx the notification is given up.", statusIn(500, 599)),
  "push-503-final": final("After 503 the notification is given up.", statusIn(503, 503)),
  "push-3xx-final": final("After a redirect the notification is given up.", statusIn(300, 399)),
  "push-retried-after-5xx-only": final(
    "Only a 5xx leads to another push.",
    (outcome) => !statusIn(500, 599)(outcome),
  ),
  "push-retried-after-answer-only": final(
    "Only an answer, not a failure of the connection, leads to another push.",
    ({ kind }) => kind !== "answered",
  ),
  "push-refused-connection-final": finalFailure(
    "After a refused connection the notification is given up.",
    "refused",
  ),
  "push-reset-final": final(
    "After a reset connection the notification is given up.",
    ({ kind }) => kind === "reset",
  ),
  "push-closed-connection-final": final(
    "After a connection that ended without an answer the notification is given up.",
    ({ kind }) => kind === "closed" || kind === "reset",
  ),
  "push-half-answer-final": finalFailure("After half an answer the notification is given up.", "cut"),
  "push-half-body-final": defect(
    "The code and the body acknowledge, but half a body behind the code ends the pushes unacknowledged.",
    ["push.unacknowledged-retries"],
    (sound) => ({
      acknowledges: (outcome, { notification }) =>
        outcome.kind === "answered" &&
        outcome.status === 200 &&
        outcome.body.includes(`"${notification.id}"`),
      pushesAgain: (outcome, delivery, service) =>
        !(outcome.kind === "cut" && outcome.status === 200) && sound.pushesAgain(outcome, delivery, service),
    }),
  ),
  "push-timeout-final": finalFailure("After no answer in time the notification is given up.", "timed-out"),

  "push-redirect-followed-always": following(
    "Every redirect is followed with the payload.",
    [301, 302, 303, 307, 308],
  ),
  "push-certificate-unchecked": defect(
    "Any certificate is taken for the receiver's.",
    ["push.certificate-check"],
    () => ({ checksCertificate: () => false }),
  ),
  "push-one-at-a-time": defect(
    "One push is under way at a time, and it waits half a minute for its answer.",
    ["push.no-head-of-line-blocking"],
    () => ({ pushesInFlight: () => 1, senderTimeoutMs: () => 30 * SECOND_MS }),
  ),
  "push-two-at-a-time": defect(
    "Two pushes are under way at a time, and each waits half a minute for its answer.",
    ["push.no-head-of-line-blocking"],
    () => ({ pushesInFlight: () => 2, senderTimeoutMs: () => 30 * SECOND_MS }),
  ),
} satisfies Record<string, Defect>;
