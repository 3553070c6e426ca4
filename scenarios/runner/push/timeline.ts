import type { TimeInterval } from "../../../conformance/judging/interval.ts";
/** A look at the target's clock: what it said, and between which readings of this machine's wall clock it was asked. */
export interface Stop {
  readonly wall: TimeInterval;
  readonly target: TimeInterval;
}

/**
 * The target's time at a moment of this machine's wall clock, both as brackets. Without any stop the
 * two are the same clock. Before the first stop the target's time flowed as this machine's does;
 * after it, it is at least what an earlier look said, and at most what a later one did.
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

/** Up to the first look time flowed, so that it also bounds what came long before it. */
const latestBefore = (after: Stop, first: Stop, wall: TimeInterval): number =>
  after === first
    ? first.target.latestMs - Math.max(0, first.wall.earliestMs - wall.latestMs)
    : after.target.latestMs;
