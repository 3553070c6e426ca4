import type { PushLine } from "../../../conformance/contract/push.ts";
import { shift, type TimeInterval } from "../../../conformance/judging/interval.ts";
import { lostIn, pushesIn } from "../../../conformance/judging/pushes/journal.ts";
import type { LostConnection, SeenPush } from "../../../conformance/judging/pushes/trace.ts";
import { targetTimeAt, type Timeline } from "./timeline.ts";

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
