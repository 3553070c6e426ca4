import type { Limits } from "../contract/limits.ts";
import { allowedLatenessMs, pushToleranceOf, type Tolerance } from "../judging/pushes/fits.ts";
import { instantsOf, lastInstantMs, readingsOf } from "../judging/pushes/readings.ts";

type ScheduleLimits = Pick<Limits, "pushDelaysMs" | "maxPushes">;

/** For so many first delays pushes are left without an answer before real time is waited for: twice the longest usual time-out. */
const HANG_DELAYS = 6;

/** From the main moment to the end of the watch: past the last instant of any reading, for events triggered last, with its lateness. */
export const watchMs = (limits: ScheduleLimits, tolerance: Tolerance): number => {
  const firstMs = limits.pushDelaysMs[0] ?? 0;
  const longestMs = Math.max(...readingsOf(limits).flatMap(({ delaysMs }) => delaysMs));
  return lastInstantMs(limits) + allowedLatenessMs(longestMs, tolerance) + firstMs;
};

/** When pushes are left without an answer: early in the longest interval in which no reading that keeps the cap has a push. */
export const hangAfterMs = (limits: ScheduleLimits): number => {
  const firstMs = limits.pushDelaysMs[0] ?? 0;
  const instants = readingsOf(limits)
    .filter(({ keepsCap }) => keepsCap)
    .flatMap(instantsOf)
    .toSorted((a, b) => a - b);
  const gaps = instants.map((fromMs, index) => ({
    fromMs,
    lengthMs: (instants[index + 1] ?? fromMs) - fromMs,
  }));
  const longest = gaps.toSorted((a, b) => b.lengthMs - a.lengthMs)[0];
  return (longest?.fromMs ?? 0) * 1.1 + firstMs;
};

/** When pushes without an answer are over on any clock that the target's own time-outs may go by, and no reading that keeps the cap has a push. */
export const hangEndAfterMs = (limits: ScheduleLimits): number =>
  hangAfterMs(limits) + HANG_DELAYS * (limits.pushDelaysMs[0] ?? 0);

/** How long the whole push run takes at most on the target's clock: what comes before the main moment, and the watch. */
export const pushRunMs = (limits: ScheduleLimits, latenessMs: number | undefined): number => {
  const tolerance = pushToleranceOf(limits, "real", latenessMs);
  const firstMs = limits.pushDelaysMs[0] ?? 0;
  return 3 * (firstMs + tolerance.latenessMs) + watchMs(limits, tolerance);
};
