import { anchors, listedDelayMs, readings } from "../delivery/schedule.ts";
import type { Service } from "../context.ts";
import { type Defect, defect } from "../registry.ts";
import { MINUTE_MS } from "./tools.ts";

/** Between pushes, as in the sound schedule, but with delays of its own (in units of the document's first one). */
const delaying = (summary: string, units: (retry: number) => number): Defect =>
  defect(summary, ["push.schedule"], () => ({
    pushDelayMs: (attempt, _delivery, service) =>
      attempt === 1 ? 0 : units(attempt - 1) * listedDelayMs(0, service),
  }));

const REGULAR = [1, 2, 4, 8];
const regular = (retry: number): number => REGULAR[retry - 1] ?? 16;

/** A share of the delay that is taken off, up to `atMost`. */
const early =
  (atMost: number) =>
  (attempt: number, service: Service): number =>
    attempt === 1
      ? 0
      : -Math.round(
          listedDelayMs(attempt - 2, service) * atMost * (0.5 + (service.random.uint32() % 512) / 1024),
        );

const RECYCLE_MS = 100_000;
const workerAt = (atMs: number): number => Math.floor(atMs / RECYCLE_MS);

/** When pushes are sent (sections 6 and 8), gone wrong. */
export const pushScheduleDefects = {
  "push-delays-skip-the-first": delaying("The retries begin with the second delay.", (retry) =>
    regular(retry + 1),
  ),
  "push-delay-always-longest": delaying("Every retry waits for the longest delay.", () => 8),
  "push-delays-in-wrong-unit": delaying(
    "Delays in seconds are taken for milliseconds.",
    (retry) => regular(retry) / 1_000,
  ),
  "push-delays-in-minutes": delaying(
    "Delays in seconds are taken for minutes.",
    (retry) => regular(retry) * 60,
  ),
  "push-delays-reversed": delaying("The delays come in the opposite order.", (retry) => regular(5 - retry)),
  "push-delays-linear": delaying("Delays grow by the same amount, not by the same factor.", (retry) => retry),
  "push-delay-third-too-long": delaying("The third delay is a quarter too long.", (retry) =>
    retry === 3 ? 5 : regular(retry),
  ),
  "push-delay-last-too-short": delaying("The last delay is thirty seconds too short.", (retry) =>
    retry === 4 ? 7 : regular(retry),
  ),
  "push-jitter-slightly-early": defect(
    "Pushes are spread by up to a twentieth of their delay, to the early side.",
    ["push.schedule"],
    () => ({ pushJitterMs: early(0.05) }),
  ),
  "push-retries-noticed-once-in-two-minutes": defect(
    "A worker looks for retries that are due once in two minutes.",
    ["push.schedule"],
    () => ({
      pushNoticedMs: (dueMs, attempt) =>
        attempt === 1 ? dueMs : Math.ceil(dueMs / (2 * MINUTE_MS)) * 2 * MINUTE_MS,
    }),
  ),
  "push-first-after-a-minute-and-a-half": defect(
    "The first push is sent when the second one should be over.",
    ["push.schedule"],
    (sound) => ({
      pushDelayMs: (attempt, delivery, service) =>
        attempt === 1 ? 3 * listedDelayMs(0, service) : sound.pushDelayMs(attempt, delivery, service),
    }),
  ),
  "push-last-retry-never-sent": defect(
    "The last of the retries is planned and never sent.",
    ["push.schedule"],
    (sound) => ({ maxPushes: (delivery, service) => sound.maxPushes(delivery, service) - 1 }),
  ),
  "push-retries-lost-on-recycling": defect(
    "A worker that is recycled every hundred seconds forgets the retries that it holds.",
    ["push.schedule"],
    (sound) => ({
      pushDelayMs: (attempt, delivery, service) => {
        const delayMs = sound.pushDelayMs(attempt, delivery, service);
        const fromMs = sound.pushAnchorMs(delivery, service);
        return attempt === 1 || workerAt(fromMs) === workerAt(fromMs + delayMs) ? delayMs : Infinity;
      },
    }),
  ),

  "push-reading-r5-from-start": defect(
    "Five retries follow the first push, delays from the start of the latest push (reading R5).",
    ["push.schedule", "push.cap"],
    () => readings.r5(anchors.startOfLatest),
  ),
  "push-reading-r5-from-failure": defect(
    "Five retries follow the first push, delays from the failure of the latest push (reading R5).",
    ["push.schedule", "push.cap"],
    () => readings.r5(anchors.endOfLatest),
  ),
  "push-reading-r6-from-start": defect(
    "Five retries follow the first push, delays from its start (reading R6).",
    ["push.schedule", "push.cap"],
    () => readings.r6(anchors.startOfFirst),
  ),
  "push-reading-r6-from-failure": defect(
    "Five retries follow the first push, delays from its failure (reading R6).",
    ["push.schedule", "push.cap"],
    () => readings.r6(anchors.endOfFirst),
  ),
  "push-reading-r7-from-start": defect(
    "Five retries follow the first push, at most 240 seconds after the start of the latest (reading R7).",
    ["push.schedule", "push.cap"],
    () => readings.r7(anchors.startOfLatest),
  ),
  "push-reading-r7-from-failure": defect(
    "Five retries follow the first push, at most 240 seconds after the failure of the latest (reading R7).",
    ["push.schedule", "push.cap"],
    () => readings.r7(anchors.endOfLatest),
  ),
  "push-without-end": defect(
    "The longest delay is repeated for ever.",
    ["push.schedule", "push.cap"],
    () => ({
      ...readings.r7(anchors.endOfLatest),
      maxPushes: () => Infinity,
    }),
  ),
  "push-two-workers": defect("Two workers each send every push.", ["push.schedule", "push.cap"], () => ({
    pushCopies: () => 2,
  })),
  "push-two-workers-once": defect(
    "Two workers meet at the third push and both send it.",
    ["push.schedule", "push.cap"],
    () => ({ pushCopies: (_delivery, attempt) => (attempt === 3 ? 2 : 1) }),
  ),
} satisfies Record<string, Defect>;
