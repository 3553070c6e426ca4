import { HOUR_MS, MINUTE_MS } from "../../conformance/contract/duration.ts";
import type { Behaviour } from "../behaviour.ts";
import type { Service } from "../context.ts";
import { anchors, listedDelayMs, readings } from "../delivery/schedule.ts";
import { change, type Replacement, rows } from "../registry.ts";

/** Other delays between pushes, in units of the document's first one. */
const delaying = (units: (retry: number) => number): Replacement => ({
  pushDelayMs: (attempt, _delivery, service) =>
    attempt === 1 ? 0 : units(attempt - 1) * listedDelayMs(0, service),
});

const REGULAR = [1, 2, 4, 8];
const regular = (retry: number): number => REGULAR[retry - 1] ?? 16;

/** Shortens the delay by a share of it, at most by `atMost`. */
const early =
  (atMost: number) =>
  (attempt: number, service: Service): number =>
    attempt === 1
      ? 0
      : -Math.round(
          listedDelayMs(attempt - 2, service) * atMost * (0.5 + (service.random.uint32() % 512) / 1024),
        );

const RECYCLE_MS = 100_000;

/** Delays that reach beyond the present hour, or other period, are different. */
const beyond =
  (periodMs: number, changed: (attempt: number, delayMs: number) => number): Replacement =>
  (sound) => ({
    pushDelayMs: (attempt, delivery, service) => {
      const delayMs = sound.pushDelayMs(attempt, delivery, service);
      const fromMs = sound.pushAnchorMs(delivery, service);
      const isWithin = Math.floor(fromMs / periodMs) === Math.floor((fromMs + delayMs) / periodMs);
      return isWithin ? delayMs : changed(attempt, delayMs);
    },
  });

/** A reading of the schedule by which there are too many pushes. */
const sixth = (reading: Partial<Behaviour>) => [reading, "push.cap"] as const;

/** Defects in when pushes are sent (sections 6 and 8). */
export const pushScheduleDefects = {
  ...rows({
    "push.schedule": {
      "push-delays-skip-the-first: Retries skip the first delay.": delaying((retry) => regular(retry + 1)),
      "push-delay-always-longest: Every retry has the longest delay.": delaying(() => 8),
      "push-delays-in-wrong-unit: Delays in seconds are interpreted as milliseconds.": delaying(
        (retry) => regular(retry) / 1_000,
      ),
      "push-delays-in-minutes: Delays are in minutes.": delaying((retry) => regular(retry) * 60),
      "push-delays-reversed: Delays are in reverse order.": delaying((retry) => regular(5 - retry)),
      "push-delays-linear: Delays grow linearly.": delaying((retry) => retry),
      "push-delay-third-too-long: The third delay is 25 % too long.": delaying((retry) =>
        retry === 3 ? 5 : regular(retry),
      ),
      "push-delay-last-too-short: The last delay is thirty seconds too short.": delaying((retry) =>
        retry === 4 ? 7 : regular(retry),
      ),
      "push-third-without-its-body: The body is a stream that the first pushes have consumed, so the third has none.":
        change("pushBody", (body, _delivery, attempt) => (attempt === 3 ? "" : body)),
      "push-jitter-slightly-early: Retries are up to 5 % of their delay early.": {
        pushJitterMs: early(0.05),
      },
      "push-retries-noticed-once-in-two-minutes: A worker looks for due retries every two minutes.": {
        pushNoticedMs: (dueMs, attempt) =>
          attempt === 1 ? dueMs : Math.ceil(dueMs / (2 * MINUTE_MS)) * 2 * MINUTE_MS,
      },
      "push-first-after-a-minute-and-a-half: The first push is sent when the second one should be over.":
        change("pushDelayMs", (delayMs, attempt, _delivery, service) =>
          attempt === 1 ? 3 * listedDelayMs(0, service) : delayMs,
        ),
      "push-last-retry-never-sent: The last retry is scheduled but never sent.": change(
        "maxPushes",
        (usual) => usual - 1,
      ),
      "push-retries-lost-on-recycling: A worker recycled every 100 s forgets its retries.": beyond(
        RECYCLE_MS,
        (attempt, delayMs) => (attempt === 1 ? delayMs : Infinity),
      ),
      "push-reading-r5-from-start: Five retries, delays from the latest start (reading R5).": sixth(
        readings.r5(anchors.startOfLatest),
      ),
      "push-reading-r5-from-failure: Five retries, delays from the latest failure (reading R5).": sixth(
        readings.r5(anchors.endOfLatest),
      ),
      "push-reading-r6-from-start: Five retries, delays from the first start (reading R6).": sixth(
        readings.r6(anchors.startOfFirst),
      ),
      "push-reading-r6-from-failure: Five retries, delays from the first failure (reading R6).": sixth(
        readings.r6(anchors.endOfFirst),
      ),
      "push-reading-r7-from-start: Five retries, at most 240 s after the latest start (reading R7).": sixth(
        readings.r7(anchors.startOfLatest),
      ),
      "push-reading-r7-from-failure: Five retries, at most 240 s after the latest failure (reading R7).":
        sixth(readings.r7(anchors.endOfLatest)),
      "push-without-end: The longest delay is repeated without end.": sixth({
        ...readings.r7(anchors.endOfLatest),
        maxPushes: () => Infinity,
      }),
      "push-two-workers: Two workers each send every push.": [{ pushCopies: () => 2 }, "push.cap"],
      "push-two-workers-once: Two workers both send the third push.": [
        { pushCopies: (_delivery, attempt) => (attempt === 3 ? 2 : 1) },
        "push.cap",
      ],
    },
  }),
  // The first push run crosses the end of an hour.
  ...rows(
    {
      "push.schedule": {
        "push-minutes-without-carry: Minutes are added to a time without carrying the hour: a retry due in the next hour leaves at once.":
          beyond(HOUR_MS, () => 0),
      },
    },
    { startTimeMs: Date.UTC(2026, 0, 1, 0, 50) },
  ),
};
