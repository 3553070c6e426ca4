import { counted, redirectOf, statusIn } from "../changes.ts";
import type { Delivery, PushOutcome } from "../context.ts";
import { listedDelayMs } from "../delivery/schedule.ts";
import { alsoIf, change, keeping, onlyIf, type Replacement, rows, together } from "../registry.ts";
import { statusOf } from "../sound.ts";

type Answered = Extract<PushOutcome, { kind: "answered" }>;

/** An acknowledgement counts only if its answer meets a condition. */
const acknowledgedIf = (holds: (answer: Answered) => boolean): Replacement =>
  onlyIf("acknowledges", (outcome) => outcome.kind === "answered" && holds(outcome));

/** Whether a push got the expected code with such a body. */
const saidWith = (outcome: PushOutcome | undefined, body: RegExp): boolean =>
  outcome?.kind === "answered" && outcome.status === 200 && body.test(outcome.body);
const isRefusing = (outcome: PushOutcome | undefined): boolean => saidWith(outcome, /"received"\s*:\s*false/);
const isSilent = (outcome: PushOutcome | undefined): boolean => saidWith(outcome, /^$/);

/** Defects in what ends the pushes of a notification (section 6). */
export const pushAcknowledgementDefects = rows({
  "push.acknowledged-stops": {
    "push-acknowledgement-type-compared: An acknowledgement counts only if its content type has no charset.":
      acknowledgedIf(({ headers }) => !headers["content-type"]?.includes("charset")),
    "push-acknowledgement-reason-compared: An acknowledgement counts only if its first line ends with OK.":
      acknowledgedIf(({ reason }) => reason === "OK"),
    "push-acknowledgement-first-piece-read: Of an acknowledgement in several pieces only the first is read.":
      acknowledgedIf(({ pieces }) => pieces < 2),
    "push-acknowledgement-needs-length: An acknowledgement in chunked encoding does not count.":
      acknowledgedIf(({ headers }) => headers["transfer-encoding"] !== "chunked"),
    'push-acknowledgement-without-a-space: An acknowledgement counts only if it is written "received":true, without a space.':
      acknowledgedIf(({ body }) => body.includes('"received":true')),
    "push-acknowledgement-id-first: An acknowledgement counts only if it begins with the id.": acknowledgedIf(
      ({ body }) => /^\s*\{\s*"id"/.test(body),
    ),
  },
  "push.acknowledged-stops push.late-acknowledgement": {
    "push-ignores-acknowledgements: Five pushes are sent, whatever the receiver answers.": {
      pushesAgain: () => true,
    },
    "push-resent-once-after-acknowledgement: An acknowledged push is followed by one retry.": alsoIf(
      "pushesAgain",
      (_outcome, delivery) => delivery.attempts.length < 2,
    ),
    "push-reminder-after-acknowledgement: An acknowledged notification is pushed again after eleven minutes.":
      (sound) => ({
        pushDelayMs: (attempt, delivery, service) =>
          delivery.acknowledged
            ? 22 * listedDelayMs(0, service)
            : sound.pushDelayMs(attempt, delivery, service),
        pushesAgain: (outcome, delivery, service) =>
          sound.pushesAgain(outcome, delivery, service) || delivery.attempts.length === 1,
      }),
    "push-acknowledged-by-202-alone: The expected return code is 202.": {
      acknowledges: (outcome) => statusOf(outcome) === 202,
    },
    'push-acknowledgement-needs-received-as-text: The acknowledgement only counts with "true" as a string.':
      acknowledgedIf(({ body }) => /"received"\s*:\s*"true"/.test(body)),
  },
  "push.late-acknowledgement": {
    "push-acknowledgement-counts-on-first-push-only: Acknowledgements of retries are ignored.": onlyIf(
      "acknowledges",
      (_outcome, delivery) => delivery.attempts.length === 1,
    ),
    "push-acknowledgement-lost-at-third-push: The acknowledgement of the third push is ignored.": onlyIf(
      "acknowledges",
      (_outcome, delivery) => delivery.attempts.length !== 3,
    ),
  },
  "push.late-acknowledgement push.cap": {
    "push-sixth-after-late-acknowledgement: An acknowledged fifth push is followed by a sixth.": (sound) => ({
      maxPushes: (delivery, service) => sound.maxPushes(delivery, service) + (delivery.acknowledged ? 1 : 0),
      pushesAgain: (outcome, delivery, service) =>
        delivery.attempts.length === 5 || sound.pushesAgain(outcome, delivery, service),
    }),
  },
  "push.cap": {
    "push-cap-not-for-what-was-not-received: Pushes answered with received: false do not count towards the cap.":
      keeping((unreceived = counted()) =>
        together(
          onlyIf("acknowledges", (outcome) => !isRefusing(outcome)),
          change("maxPushes", (usual, delivery) =>
            isRefusing(delivery.attempts.at(-1)?.outcome) ? usual + unreceived(delivery) : usual,
          ),
        ),
      ),
    "push-cap-not-for-what-is-not-confirmed: Retries never stop after the expected code without a body.":
      together(
        onlyIf("acknowledges", (outcome) => !isSilent(outcome)),
        change("maxPushes", (usual, { attempts }) => (isSilent(attempts.at(-1)?.outcome) ? Infinity : usual)),
      ),
  },
  "push.unacknowledged-retries": {
    "push-redirect-taken-for-success: Answers up to 399 count as success.": {
      acknowledges: statusIn(0, 399),
    },
    "push-acknowledged-below-400-by-its-body: Any code below 400 counts if the body is an acknowledgement.": {
      acknowledges: (outcome) =>
        outcome.kind === "answered" && outcome.status < 400 && /"received"\s*:\s*true/.test(outcome.body),
    },
    "push-any-answer-taken-for-success: An answer is an acknowledgement, whatever its status.": {
      acknowledges: ({ kind }) => kind === "answered",
    },
    "push-half-an-answer-taken-for-success: The status line is enough, even if the body is cut off.": alsoIf(
      "acknowledges",
      (outcome) => outcome.kind === "cut",
    ),
    "push-no-answer-taken-for-success: A push without a timely answer counts as delivered.": alsoIf(
      "acknowledges",
      (outcome) => outcome.kind === "timed-out",
    ),
    "push-redirect-turns-post-into-get: A redirect is followed with a GET, which counts as success.": (
      sound,
      followed = new WeakSet<Delivery>(),
    ) => ({
      requestAfter: (outcome, request, delivery) => {
        const url = redirectOf(outcome, request);
        if (url === undefined) return undefined;
        followed.add(delivery);
        return { ...request, url, method: "GET", body: undefined };
      },
      acknowledges: (outcome, delivery) => followed.has(delivery) || sound.acknowledges(outcome, delivery),
    }),
  },
});
