import type { Limits } from "../contract/limits.ts";
import { pushToleranceOf, watchMs } from "../judging/pushes/fits.ts";
import { instantsOf, readingsOf } from "../judging/pushes/readings.ts";

type ScheduleLimits = Pick<Limits, "pushDelaysMs" | "maxPushes">;

/** How long pushes are left unanswered before waiting in real time, in first delays: twice the longest usual timeout. */
const HANG_DELAYS = 6;

/** When pushes are left unanswered, in milliseconds: early in the longest gap between pushes in the readings within the cap. */
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

/**
 * When unanswered pushes are over on any clock that the target's timeouts may use, in milliseconds, while no reading
 * within the cap has a push.
 */
export const hangEndAfterMs = (limits: ScheduleLimits): number =>
  hangAfterMs(limits) + HANG_DELAYS * (limits.pushDelaysMs[0] ?? 0);

/** Longest duration of the whole push run on the target's clock, in milliseconds, including what comes before the main moment. */
export const pushRunMs = (limits: ScheduleLimits, latenessMs: number | undefined): number => {
  const tolerance = pushToleranceOf(limits, "real", latenessMs);
  const firstMs = limits.pushDelaysMs[0] ?? 0;
  return 3 * (firstMs + tolerance.latenessMs) + watchMs(limits, tolerance);
};
