import type { TimeInterval } from "../../../conformance/judging/interval.ts";
/** A reading of the target's clock, and the wall-clock readings of this machine before and after it. */
export interface Stop {
  readonly wall: TimeInterval;
  readonly target: TimeInterval;
}

/**
 * The target's time at a moment of this machine's wall clock, both as intervals. Without stops the two clocks are the
 * same. Before the first stop the target's time flowed like this machine's; afterwards an earlier stop is its lower
 * bound, and a later one its upper bound.
 */
export const targetTimeAt = (stops: readonly Stop[], wall: TimeInterval): TimeInterval => {
  const [first] = stops;
  if (first === undefined) return wall;
  const before = stops.findLast((stop) => stop.wall.latestMs <= wall.earliestMs);
  const after = stops.find((stop) => stop.wall.earliestMs >= wall.latestMs);
  return {
    earliestMs:
      before?.target.earliestMs ?? first.target.earliestMs - (first.wall.latestMs - wall.earliestMs),
    latestMs: after === undefined ? Infinity : latestBefore(after, first, wall),
  };
};

/** Time flowed until the first stop, which therefore also bounds much earlier moments. */
const latestBefore = (after: Stop, first: Stop, wall: TimeInterval): number =>
  after === first
    ? first.target.latestMs - Math.max(0, first.wall.earliestMs - wall.latestMs)
    : after.target.latestMs;
