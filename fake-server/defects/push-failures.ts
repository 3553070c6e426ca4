import { DAY_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { parseJson } from "../../conformance/contract/json.ts";
import { givingUp, statusIn } from "../changes.ts";
import { redirectOf } from "../delivery/redirect.ts";
import type { PushFailure } from "../pushes.ts";
import { afterwards, change, keeping, onlyIf, type Replacement, rows, together } from "../registry.ts";
import { statusOf } from "../sound/delivery.ts";

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

/** Defects in which failures lead to another push (section 6), and in how a sender protects itself. */
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
});
