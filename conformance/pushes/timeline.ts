import type { TimeInterval } from "../judging/interval.ts";
import type { Clock, JoinedClock } from "../world/clock.ts";

import type { Receiver } from "../world/receiver.ts";

/** The clock on which a push run expresses its moments. */
export interface Timeline {
  readonly kind: Clock["kind"];
  now(): Promise<TimeInterval>;
  /** Returns the current time once it is certainly at least `momentMs`; `slackMs` as the clock's. */
  sleepUntil(momentMs: number, slackMs?: number): Promise<TimeInterval>;
  /** A receiver timestamp on this clock; undefined if the clock is unrelated to the receiver's. */
  momentOf(receiverMs: number, uncertaintyMs: number): TimeInterval | undefined;
  /** The same timeline, driven by another of the run's clocks. */
  by(clock: JoinedClock): Timeline;
}

/** The target's own time, moved by a hook, with `openMs` less uncertainty than the clock's own. */
const virtualTimeline = (clock: JoinedClock, openMs: number): Timeline => {
  const onScale = (now: TimeInterval): TimeInterval => ({ ...now, latestMs: now.latestMs - openMs });
  return {
    kind: "virtual",
    now: async () => onScale(await clock.now()),
    sleepUntil: async (momentMs, slackMs) => onScale(await clock.sleepUntil(momentMs, slackMs)),
    momentOf: () => undefined,
    by: (another) => virtualTimeline(another, openMs),
  };
};

/** If the target does not tell its time, intervals are as wide as the run is old; here, as this timeline is old. */
const openVirtual = async (clock: JoinedClock): Promise<Timeline> => {
  const { earliestMs, latestMs } = await clock.now();
  return virtualTimeline(clock, clock.isTold ? 0 : latestMs - earliestMs);
};

/** The receiver's monotonic clock, converted from this machine's; the duration of the query remains as uncertainty. */
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

/** Rounds up, because a start on a whole second loses nothing to senders that round. */
export const wholeSecond = (momentMs: number): number => Math.ceil(momentMs / 1_000) * 1_000;
