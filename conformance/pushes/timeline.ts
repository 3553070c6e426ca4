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
  /** The same scale, by another of the run's clocks. */
  by(clock: JoinedClock): Timeline;
}

/** The target's own time, moved by hand, on a scale that begins so much later than the clock's own. */
const virtualTimeline = (clock: JoinedClock, openMs: number): Timeline => {
  const onScale = (now: TimeInterval): TimeInterval => ({ ...now, latestMs: now.latestMs - openMs });
  return {
    kind: "virtual",
    now: async () => onScale(await clock.now()),
    sleepUntil: async (momentMs) => onScale(await clock.sleepUntil(momentMs)),
    momentOf: () => undefined,
    by: (another) => virtualTimeline(another, openMs),
  };
};

/** Where the target does not tell its time, brackets are as wide as the run is old: from here on, as this scale is. */
const openVirtual = async (clock: JoinedClock): Promise<Timeline> => {
  const { earliestMs, latestMs } = await clock.now();
  return virtualTimeline(clock, clock.isTold ? 0 : latestMs - earliestMs);
};

/** The receiver's monotonic clock, which this machine's is set against; what a look over there takes stays open. */
const realTimeline = async (clock: JoinedClock, receiver: Receiver): Promise<Timeline> => {
  const before = await clock.now();
  const { nowMs } = await receiver.state();
  const after = await clock.now();
  return realTimelineBy(clock, { earliestMs: nowMs - after.latestMs, latestMs: nowMs - before.earliestMs });
};

const realTimelineBy = (clock: JoinedClock, offset: TimeInterval): Timeline => {
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
    by: (another) => realTimelineBy(another, offset),
  };
};

export const openTimeline = (clock: JoinedClock, receiver: Receiver): Promise<Timeline> =>
  clock.kind === "virtual" ? openVirtual(clock) : realTimeline(clock, receiver);
