import type { TimeInterval } from "../../../conformance/judging/interval.ts";

/** A reading of the target's clock, and the wall-clock readings of this machine before and after it. */
export interface Stop {
  readonly wall: TimeInterval;
  readonly target: TimeInterval;
}

export interface Timeline {
  readonly stops: readonly Stop[];
  /** Whether the target's time stands still unless it is moved. */
  readonly isMovedOnly: boolean;
}

/**
 * The target's time at a moment of this machine's wall clock, both as intervals. Without stops the two clocks are the
 * same. The clock is moved only after the first stop: before it the target's time flowed like this machine's, or stood
 * still. Afterwards an earlier stop is its lower bound, and a later one its upper bound.
 */
export const targetTimeAt = ({ stops, isMovedOnly }: Timeline, wall: TimeInterval): TimeInterval => {
  const [first] = stops;
  if (first === undefined) return wall;
  const before = stops.findLast((stop) => stop.wall.latestMs <= wall.earliestMs);
  const after = stops.find((stop) => stop.wall.earliestMs >= wall.latestMs);
  // What flowed until the first stop, which therefore also bounds much earlier moments.
  const flowedMs = (fromMs: number, toMs: number): number => (isMovedOnly ? 0 : Math.max(0, toMs - fromMs));
  return {
    earliestMs:
      before?.target.earliestMs ?? first.target.earliestMs - flowedMs(wall.earliestMs, first.wall.latestMs),
    latestMs:
      after === first
        ? first.target.latestMs - flowedMs(wall.latestMs, first.wall.earliestMs)
        : (after?.target.latestMs ?? Infinity),
  };
};
