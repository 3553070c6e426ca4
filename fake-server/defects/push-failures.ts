import { DAY_MS, HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { parseJson } from "../../conformance/contract/json.ts";
import type { Replaces } from "../behaviour.ts";
import { givingUp, redirectOf, statusIn } from "../changes.ts";
import type { Delivery, PushFailure } from "../context.ts";
import { anchors, listedDelayMs } from "../delivery/schedule.ts";
import { afterwards, change, keeping, onlyIf, type Replacement, rows, together } from "../registry.ts";
import { statusOf } from "../sound.ts";

const finalFailure = (...kinds: readonly PushFailure[]): Replacement =>
  givingUp(({ kind }) => (kinds as readonly string[]).includes(kind));

/** Gives up after failing answers with certain bodies, like a worker that stops at what it cannot read. */
const finalBody = (isFinal: (body: string) => boolean): Replacement =>
  givingUp((outcome) => outcome.kind === "answered" && outcome.status >= 300 && isFinal(outcome.body));

const following = (statuses: readonly number[]): Replacement => ({
  requestAfter: (outcome, request) => {
    const url = redirectOf(outcome, request);
    return url === undefined || !statuses.includes(statusOf(outcome) ?? 0) ? undefined : { ...request, url };
  },
});

const atATime = (most: number): Replacement => ({
  pushesInFlight: () => most,
  senderTimeoutMs: () => 30 * SECOND_MS,
});

const ended = ({ attempts }: Delivery, kind: PushFailure): number =>
  attempts.filter(({ outcome }) => outcome?.kind === kind).length;

/** Whether the last push, or the last as the n-th, ended in this way. */
const endedLast = ({ attempts }: Delivery, kind: PushFailure, push = attempts.length): boolean =>
  attempts.length === push && attempts.at(-1)?.outcome?.kind === kind;

/** Retries after one kind of failure, or after that of the n-th push, have a different delay from the document's. */
const delayingAfter = (kind: PushFailure, changed: (delayMs: number) => number, push?: number): Replacement =>
  change("pushDelayMs", (delayMs, _attempt, delivery) =>
    endedLast(delivery, kind, push) ? changed(delayMs) : delayMs,
  );

/** No more pushes follow if the n-th ends in this way. */
const finalAt = (push: number, kind: PushFailure): Replacement =>
  givingUp((_outcome, delivery) => endedLast(delivery, kind, push));

/** Some pushes are not counted, and their delays are repeated. */
const notCounting =
  (uncounted: (delivery: Delivery) => number): Replaces =>
  (sound) => ({
    maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + uncounted(delivery),
    pushDelayMs: (attempt, delivery, service) =>
      attempt === 1 ? 0 : listedDelayMs(Math.max(0, attempt - 2 - uncounted(delivery)), service),
  });

const sixthAfter = (kind: PushFailure): Replacement =>
  change("maxPushes", (usual, delivery) => usual + Number(endedLast(delivery, kind, 5)));

const oneMoreAfter =
  (afterMs: number): Replacement =>
  (sound) => ({
    maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + 1,
    pushDelayMs: (attempt, delivery, service) =>
      attempt > sound.maxPushes(delivery, service) ? afterMs : sound.pushDelayMs(attempt, delivery, service),
  });

/** Statuses that are rarely considered. */
const seldom = [
  402, 403, 406, 407, 409, 411, 412, 414, 415, 416, 417, 418, 421, 423, 424, 425, 426, 428, 431, 451,
];

/** Defects in which failures lead to another push, and when (section 6), and in how a sender protects itself. */
export const pushFailureDefects = rows({
  "push.unacknowledged-retries": {
    "push-4xx-final: After any 4xx, the notification is given up.": givingUp(statusIn(400, 499)),
    "push-410-final: After a 410, the notification is given up.": givingUp(statusIn(410)),
    "push-5xx-final: After any 5xx, the notification is given up.": givingUp(statusIn(500, 599)),
    "push-503-final: After a 503, the notification is given up.": givingUp(statusIn(503)),
    "push-3xx-final: After a redirect, the notification is given up.": givingUp(statusIn(300, 399)),
    "push-4xx-after-5xx-final: After a 4xx right after a 5xx, the notification is given up.": givingUp(
      (outcome, { attempts }) => {
        const before = attempts.at(-2)?.outcome;
        return before !== undefined && statusIn(500, 599)(before) && statusIn(400, 499)(outcome);
      },
    ),
    "push-retried-after-5xx-only: Only a 5xx leads to another push.": givingUp(
      (outcome) => !statusIn(500, 599)(outcome),
    ),
    "push-retried-after-answer-only: A push is retried only after an answer, not after a connection failure.":
      givingUp(({ kind }) => kind !== "answered"),
    "push-refused-connection-final: After a refused connection, the notification is given up.":
      finalFailure("refused"),
    "push-reset-final: After a reset connection, the notification is given up.": finalFailure("reset"),
    "push-closed-connection-final: After a connection closed without an answer, the notification is given up.":
      finalFailure("closed", "reset"),
    "push-half-answer-final: After half an answer, the notification is given up.": finalFailure("cut"),
    "push-cut-failing-answer-final: After a truncated answer with a failing status, the notification is given up.":
      givingUp((outcome) => outcome.kind === "cut" && (outcome.status ?? 0) >= 300),
    "push-half-body-final: After the expected code with a truncated body, there are no more pushes.": (
      sound,
    ) => ({
      acknowledges: (outcome, { notification }) =>
        outcome.kind === "answered" &&
        outcome.status === 200 &&
        outcome.body.includes(`"${notification.id}"`),
      pushesAgain: (outcome, delivery, service) =>
        !(outcome.kind === "cut" && outcome.status === 200) && sound.pushesAgain(outcome, delivery, service),
    }),
    "push-page-of-html-final: After a failing answer whose body looks like HTML, the notification is given up.":
      finalBody((body) => body.trimStart().startsWith("<")),
    "push-answer-without-json-final: After a failing answer whose body is neither JSON nor empty, the notification is given up.":
      finalBody((body) => body !== "" && parseJson(body) === undefined),
    "push-answer-null-final: After a failing answer whose body is null, the notification is given up.":
      finalBody((body) => body.trim() === "null"),
    "push-timeout-final: After a push without an answer, the notification is given up.":
      finalFailure("timed-out"),
    "push-retries-lost-at-midnight: A daily job at midnight forgets the retries that are due after it.":
      change("pushDelayMs", (usual, attempt, _delivery, { clock }) => {
        const nowMs = clock.nowMs();
        const isToday = Math.floor(nowMs / DAY_MS) === Math.floor((nowMs + usual) / DAY_MS);
        return attempt === 1 || isToday ? usual : 1_000 * DAY_MS;
      }),
    "push-callback-off-after-fifty-failures: After fifty failures, the callback is disabled.": keeping(
      (failures = 0) =>
        together(
          afterwards("afterPush", (_outcome, { acknowledged }) => {
            if (!acknowledged) failures += 1;
          }),
          onlyIf("pushesAgain", () => failures < 50),
          onlyIf("pushesEvent", () => failures < 50),
        ),
    ),
    "push-third-timeout-final: After three pushes without an answer, the notification is given up.": givingUp(
      (_outcome, delivery) => ended(delivery, "timed-out") >= 3,
    ),
    "push-untrusted-certificate-final: After an untrusted certificate, the notification is given up.":
      givingUp(({ kind }) => kind === "untrusted"),
    "push-second-unanswered-final: After no answer to the second push, the notification is given up.":
      finalAt(2, "timed-out"),
    "push-fourth-503-final: After a 503 for the fourth push, the notification is given up.": givingUp(
      (outcome, { attempts }) => attempts.length === 4 && statusOf(outcome) === 503,
    ),
    "push-second-kind-of-failure-final: After both a failed connection and a failing status, the notification is given up.":
      givingUp((_outcome, { attempts }) => new Set(attempts.map(({ outcome }) => outcome?.kind)).size > 1),
    "push-third-kind-of-failure-final: After failures of three kinds, the notification is given up.":
      givingUp((_outcome, { attempts }) => {
        const kinds = attempts.map(({ outcome }) =>
          outcome === undefined ? "" : `${outcome.kind} ${statusOf(outcome)}`,
        );
        return new Set(kinds).size > 2;
      }),
    "push-408-final: After a 408, the notification is given up.": givingUp(statusIn(408)),
    "push-409-final: After a 409, the notification is given up, as if it had been received already.":
      givingUp(statusIn(409)),
    "push-422-final: After a 422, the notification is given up.": givingUp(statusIn(422)),
    "push-501-final: After a 501, the notification is given up.": givingUp(statusIn(501)),
    "push-seldom-status-final: After a rare 4xx, the notification is given up.": givingUp((outcome) =>
      seldom.includes(statusOf(outcome) ?? 0),
    ),
  },
  "push.unacknowledged-retries push.schedule": {
    "push-refused-connection-costs-a-push: After a refused connection, there is one push fewer.": change(
      "maxPushes",
      (usual, delivery) => usual - Math.min(1, ended(delivery, "refused")),
    ),
  },
  "push.redirects": {
    "push-redirect-followed-always: Every redirect is followed with the payload.": following([
      301, 302, 303, 307, 308,
    ]),
  },
  "push.certificate-check": {
    "push-certificate-unchecked: Any certificate is accepted.": { checksCertificate: () => false },
  },
  "push.no-head-of-line-blocking": {
    "push-one-at-a-time: Only one push is in flight at a time, and it waits up to 30 s for its answer.":
      atATime(1),
    "push-two-at-a-time: Only two pushes are in flight at a time, and they wait up to 30 s for their answers.":
      atATime(2),
  },
  "push.cap": {
    "push-sixth-after-an-hour: A sixth push follows the fifth after an hour.": oneMoreAfter(HOUR_MS),
    "push-sixth-on-the-next-day: A sixth push follows the fifth after a day.": oneMoreAfter(DAY_MS),
  },
  "push.cap push.schedule": {
    "push-cap-not-for-timeouts: A notification whose pushes get no answer is pushed twelve times.": change(
      "maxPushes",
      (usual, delivery) => (ended(delivery, "timed-out") === delivery.attempts.length ? 12 : usual),
    ),
    "push-sixth-after-unanswered-fifth: A sixth push follows an unanswered fifth.": sixthAfter("timed-out"),
  },
  "push.schedule": {
    "push-timeout-doubles-delay: After a push without an answer, the next delay is doubled.": delayingAfter(
      "timed-out",
      (delayMs) => 2 * delayMs,
    ),
    "push-timeout-repeated-at-once: After a push without an answer, the next one is sent immediately.":
      delayingAfter("timed-out", () => 0),
    "push-first-real-timeout-repeated-at-once: A first push that times out in real time is retried immediately.":
      together(
        { senderTimeoutMs: () => 3 * SECOND_MS, timesOutInRealTime: () => true },
        delayingAfter("timed-out", () => 0, 1),
      ),
    "push-timeout-counts-from-event: After a push without an answer, delays count from the event.": change(
      "pushAnchorMs",
      (usual, delivery) => (ended(delivery, "timed-out") > 0 ? anchors.event(delivery) : usual),
    ),
    "push-refused-connection-repeated-soon: A refused connection is retried after five seconds.":
      delayingAfter("refused", () => 5 * SECOND_MS),
    "push-refused-connection-not-counted: A refused connection is not counted, and its delay is repeated.":
      notCounting((delivery) => ended(delivery, "refused")),
    "push-refused-first-connection-not-counted: A refused connection at the first push is not counted, and its delay is repeated.":
      notCounting(({ attempts: [first] }) => Number(first?.outcome?.kind === "refused")),
    "push-retry-after-obeyed: A Retry-After header replaces the delay.": change(
      "pushDelayMs",
      (delayMs, _attempt, delivery) => {
        const outcome = delivery.attempts.at(-1)?.outcome;
        const seconds = outcome?.kind === "answered" ? Number(outcome.headers["retry-after"]) : NaN;
        return Number.isNaN(seconds) ? delayMs : seconds * SECOND_MS;
      },
    ),
    "push-all-delays-quarter-too-long: Every delay is 25 % too long.": change(
      "pushDelayMs",
      (delayMs) => 1.25 * delayMs,
    ),
  },
  "push.late-acknowledgement": {
    "push-acknowledgement-after-timeout-ignored: After an unanswered push, acknowledgements are ignored.":
      onlyIf("acknowledges", (_outcome, delivery) => ended(delivery, "timed-out") === 0),
  },
});
