import type { Limits } from "../contract/limits.ts";
import {
  allowedLatenessMs,
  pushToleranceOf,
  instantsOf,
  readingsOf,
  type Reading,
} from "../judging/pushes/readings.ts";

type ScheduleLimits = Pick<Limits, "pushDelaysMs" | "maxPushes">;

/** Where no reading has a push, early in the longest such gap up to a moment; in milliseconds after the event. */
const gapIn = (readings: readonly Reading[], untilMs = Infinity): { fromMs: number; lengthMs: number } => {
  const instants = readings.flatMap(instantsOf).toSorted((a, b) => a - b);
  const gaps = instants.map((fromMs, index) => ({
    fromMs,
    lengthMs: (instants[index + 1] ?? fromMs) - fromMs,
  }));
  const [longest] = gaps
    .filter(({ fromMs, lengthMs }) => fromMs + lengthMs <= untilMs)
    .toSorted((a, b) => b.lengthMs - a.lengthMs);
  return longest ?? { fromMs: 0, lengthMs: 0 };
};

/** When pushes are left unanswered: early in the longest gap between pushes in the readings within the cap. */
export const silenceAfterMs = (
  limits: ScheduleLimits,
  readings: readonly Reading[] = readingsOf(limits),
): number => {
  const kept = readings.filter(({ keepsCap }) => keepsCap);
  return gapIn(kept).fromMs * 1.1 + (limits.pushDelaysMs[0] ?? 0);
};

/** When every notification that is never acknowledged was given up, in the readings within the cap. */
export const givenUpAfterMs = (
  limits: ScheduleLimits,
  readings: readonly Reading[] = readingsOf(limits),
): number => {
  const kept = readings.filter(({ keepsCap }) => keepsCap);
  return Math.max(0, ...kept.flatMap(instantsOf)) * 1.1 + (limits.pushDelaysMs[0] ?? 0);
};

/** How far into a gap an outage begins: what is late is over by then. */
const INTO_GAP = 0.4;

/**
 * When the receiver is out in real time if first pushes come at once: before pushes are left unanswered. Undefined if no gap
 * is as long as an outage takes, in milliseconds.
 */
export const outageAfterMs = (limits: ScheduleLimits, tookMs: number): number | undefined => {
  const { fromMs, lengthMs } = gapIn(readingsOf(limits), (limits.pushDelaysMs[0] ?? 0) * OUTAGE_WITHIN);
  return lengthMs * (1 - INTO_GAP) < tookMs ? undefined : fromMs + INTO_GAP * lengthMs;
};

/** In first delays; no reading leaves pushes unanswered sooner. */
const OUTAGE_WITHIN = 8;

/**
 * How long a push run takes in real time if its first pushes come at once, in milliseconds: until the last push of each of
 * these readings is overdue.
 */
export const pushRunMs = (
  limits: ScheduleLimits,
  latenessMs: number | undefined,
  readings: readonly Reading[] = readingsOf(limits),
): number => {
  const tolerance = pushToleranceOf(limits, "real", latenessMs);
  return Math.max(
    ...readings.map((reading) => {
      const lastMs = instantsOf(reading).at(-1) ?? 0;
      return lastMs + allowedLatenessMs(reading.delaysMs.at(-1) ?? 0, tolerance);
    }),
  );
};

/** The least wait of a push run that can show anything about a retry, in milliseconds. */
export const leastPushRunMs = (limits: ScheduleLimits, latenessMs: number | undefined): number =>
  (limits.pushDelaysMs[0] ?? 0) + pushToleranceOf(limits, "real", latenessMs).latenessMs;
