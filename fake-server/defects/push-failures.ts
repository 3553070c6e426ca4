import { SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Delivery, PushFailure, PushOutcome } from "../pushes.ts";
import { parseJson } from "../../conformance/contract/json.ts";
import { redirectOf } from "../delivery/redirect.ts";
import { decide, decisions, onlyIf, type Replacement, rows } from "../registry.ts";
import { statusOf } from "../sound/delivery.ts";

/** Gives up after certain outcomes of pushes. */
const final = (isFinal: (outcome: PushOutcome, delivery: Delivery) => boolean): Replacement =>
  onlyIf("pushesAgain", (outcome, delivery) => !isFinal(outcome, delivery));

const finalFailure = (...kinds: readonly PushFailure[]): Replacement =>
  final(({ kind }) => (kinds as readonly string[]).includes(kind));

const statusIn =
  (from: number, to: number) =>
  (outcome: PushOutcome): boolean => {
    const status = statusOf(outcome);
    return status !== undefined && status >= from && status <= to;
  };

/** Gives up after failing answers with certain bodies, like a worker that stops at what it cannot read. */
const finalBody = (isFinal: (body: string) => boolean): Replacement =>
  final((outcome) => outcome.kind === "answered" && outcome.status >= 300 && isFinal(outcome.body));

const following = (statuses: readonly number[]): Replacement =>
  decide("requestAfter", (outcome, request) => {
    const url = redirectOf(outcome, request);
    return url === undefined || !statuses.includes(statusOf(outcome) ?? 0) ? undefined : { ...request, url };
  });

/** Defects in which failures lead to another push (section 6), and in how a sender protects itself. */
export const pushFailureDefects = rows({
  "push.unacknowledged-retries": {
    "push-4xx-final: After any 4xx, the notification is given up.": final(statusIn(400, 499)),
    "push-410-final: After a 410, the notification is given up.": final(statusIn(410, 410)),
    "push-5xx-final: After any 5xx, the notification is given up.": final(statusIn(500, 599)),
    "push-503-final: After a 503, the notification is given up.": final(statusIn(503, 503)),
    "push-3xx-final: After a redirect, the notification is given up.": final(statusIn(300, 399)),
    "push-retried-after-5xx-only: Only a 5xx leads to another push.": final(
      (outcome) => !statusIn(500, 599)(outcome),
    ),
    "push-retried-after-answer-only: A push is retried only after an answer, not after a connection failure.":
      final(({ kind }) => kind !== "answered"),
    "push-refused-connection-final: After a refused connection, the notification is given up.":
      finalFailure("refused"),
    "push-reset-final: After a reset connection, the notification is given up.": finalFailure("reset"),
    "push-closed-connection-final: After a connection closed without an answer, the notification is given up.":
      finalFailure("closed", "reset"),
    "push-half-answer-final: After half an answer, the notification is given up.": finalFailure("cut"),
    "push-cut-failing-answer-final: After a truncated answer with a failing status, the notification is given up.":
      final((outcome) => outcome.kind === "cut" && (outcome.status ?? 0) >= 300),
    "push-half-body-final: After the expected code with a truncated body, there are no more pushes.":
      decisions((sound) => ({
        acknowledges: (outcome, { notification }) =>
          outcome.kind === "answered" &&
          outcome.status === 200 &&
          outcome.body.includes(`"${notification.id}"`),
        pushesAgain: (outcome, delivery, service) =>
          !(outcome.kind === "cut" && outcome.status === 200) &&
          sound.pushesAgain(outcome, delivery, service),
      })),
    "push-page-of-html-final: After a failing answer whose body looks like HTML, the notification is given up.":
      finalBody((body) => body.trimStart().startsWith("<")),
    "push-answer-without-json-final: After a failing answer whose body is neither JSON nor empty, the notification is given up.":
      finalBody((body) => body !== "" && parseJson(body) === undefined),
    "push-answer-null-final: After a failing answer whose body is null, the notification is given up.":
      finalBody((body) => body.trim() === "null"),
    "push-timeout-final: After a push without an answer, the notification is given up.":
      finalFailure("timed-out"),
  },
  "push.redirects": {
    "push-redirect-followed-always: Every redirect is followed with the payload.": following([
      301, 302, 303, 307, 308,
    ]),
  },
  "push.certificate-check": {
    "push-certificate-unchecked: Any certificate is accepted.": decide("checksCertificate", () => false),
  },
  "push.no-head-of-line-blocking": {
    "push-one-at-a-time: Only one push is in flight at a time, and it waits up to 30 s for its answer.":
      decisions(() => ({ pushesInFlight: () => 1, senderTimeoutMs: () => 30 * SECOND_MS })),
    "push-two-at-a-time: Only two pushes are in flight at a time, and they wait up to 30 s for their answers.":
      decisions(() => ({ pushesInFlight: () => 2, senderTimeoutMs: () => 30 * SECOND_MS })),
  },
});
