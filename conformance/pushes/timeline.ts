import type { TimeInterval } from "../judging/interval.ts";
import type { Clock, JoinedClock } from "../world/clock.ts";

import type { Receiver } from "../world/receiver.ts";

/** The scale that a push run tells its moments on. */
export interface Timeline {
  readonly kind: Clock["kind"];
  now(): Promise<TimeInterval>;
  /** Returns once the scale's earliest moment is at least this, with where it stood then. */
  sleepUntil(momentMs: number): Promise<TimeInterval>;
  /** A stamp of the receiver on this scale; undefined where the scale has nothing to do with the receiver's clock. */
  momentOf(receiverMs: number, uncertaintyMs: number): TimeInterval | undefined;
}

/** The target's own time, moved by hand. */
const virtualTimeline = (clock: JoinedClock): Timeline => ({
  kind: "virtual",
  now: () => clock.now(),
  sleepUntil: (momentMs) => clock.sleepUntil(momentMs),
  momentOf: () => undefined,
});

/** The receiver's monotonic clock, which this machine's is set against; what a look over there takes stays open. */
const realTimeline = async (clock: JoinedClock, receiver: Receiver): Promise<Timeline> => {
  const before = await clock.now();
  const { nowMs } = await receiver.state();
  const after = await clock.now();
  const offset = { earliestMs: nowMs - after.latestMs, latestMs: nowMs - before.earliestMs };
  const now = async (): Promise<TimeInterval> => {
    const here = await clock.now();
    return {
      earliestMs: here.earliestMs + offset.earliestMs,
      latestMs: here.latestMs + offset.latestMs,
    };
  };
  return {
    kind: "real",
    now,
    sleepUntil: async (momentMs) => {
      await clock.sleepUntil(momentMs - offset.earliestMs);
      return now();
    },
    momentOf: (receiverMs, uncertaintyMs) => ({
      earliestMs: receiverMs - uncertaintyMs,
      latestMs: receiverMs + uncertaintyMs,
    }),
  };
};

export const openTimeline = (clock: JoinedClock, receiver: Receiver): Promise<Timeline> =>
  clock.kind === "virtual" ? Promise.resolve(virtualTimeline(clock)) : realTimeline(clock, receiver);
