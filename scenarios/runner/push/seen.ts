import type { PushLine } from "../../../conformance/contract/push.ts";
import { shift, type TimeInterval } from "../../../conformance/judging/interval.ts";
import { lostIn, pushesIn } from "../../../conformance/judging/pushes/journal.ts";
import type { LostConnection, SeenPush } from "../../../conformance/judging/pushes/trace.ts";

/** A push as our receiver saw it, on the target's clock. */
export interface LoadPush extends SeenPush {
  /** Since the start of the load, on this machine's clock. */
  readonly atMs: number;
}

export interface SeenAt extends Timeline {
  /** Wall-clock time at the origin of the receiver's clock. */
  readonly origin: TimeInterval;
  /** When the load began, on the wall clock. */
  readonly startedAtMs: number;
}

/** The receiver's journal as pushes of notifications, without those that name no notification. */
export const seenPushes = (
  lines: readonly PushLine[],
  { origin, startedAtMs, ...timeline }: SeenAt,
): readonly LoadPush[] =>
  pushesIn(lines)
    .filter(({ notificationId }) => notificationId !== undefined)
    .map((line) => {
      const wallAt = (receiverMs: number): TimeInterval => {
        const wall = shift(origin, receiverMs);
        return { ...wall, earliestMs: wall.earliestMs - line.uncertaintyMs };
      };
      return {
        line,
        at: targetTimeAt(timeline, wallAt(line.firstByteMs)),
        ended: targetTimeAt(timeline, wallAt(line.answeredMs ?? line.completeMs)),
        // The plan does not matter here: the journal says what was done.
        action: undefined,
        atMs: wallAt(line.firstByteMs).latestMs - startedAtMs,
      };
    });

/** The connections of the journal that ended before the receiver could read a push, on the target's clock. */
export const lostConnections = (
  lines: readonly PushLine[],
  { origin, ...timeline }: SeenAt,
): readonly LostConnection[] =>
  lines.flatMap((line) => lostIn(line, (openedMs) => targetTimeAt(timeline, shift(origin, openedMs))));

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
