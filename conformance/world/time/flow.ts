import type { TimeInterval } from "../../judging/interval.ts";
import { after, monotonicMs } from "../clock.ts";

export interface FlowOptions {
  /** The earliest wake-up, in milliseconds of the target's time; undefined if there is no sleeper. */
  readonly dueMs: () => number | undefined;
  /** Reads the target's clock and wakes the sleepers that are due. */
  readonly look: () => Promise<void>;
  /** This machine's time; default: the real one. */
  readonly nowMs?: () => number;
}

/** Learns from readings whether a clock runs by itself, and reads it again when a sleeper is due. */
export type FlowWatch = ReturnType<typeof watchFlow>;

/** A clock that has not moved for this long, beyond the uncertainty of its readings, moves only by hook; in milliseconds. */
const STILL_MS = 500;
/** How long a reading may stand in for the next, in milliseconds; someone else may still move the clock. */
const FRESH_MS = 100;

/** Pause between two readings of a clock that runs slower than real time, in milliseconds. */
const LEAST_WAIT_MS = 2;

export const watchFlow = ({ dueMs, look, nowMs = monotonicMs }: FlowOptions) => {
  let isSeen = false;
  let isStill = false;
  /** The first reading since the clock was moved. */
  let first: typeof last;
  let last: { readonly at: TimeInterval; readonly realMs: number } | undefined;
  let timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;

  const rearm = (): void => {
    const due = isSeen ? dueMs() : undefined;
    if (due === timer?.dueMs) return;
    timer?.cancel();
    timer = undefined;
    if (due === undefined || last === undefined) return;
    const leftMs = due - last.at.earliestMs - (nowMs() - last.realMs);
    timer = { dueMs: due, ...after(Math.min(Math.max(LEAST_WAIT_MS, leftMs), LONGEST_TIMER_MS), fire) };
  };

  const fire = (): void => {
    timer = undefined;
    // If the clock cannot be read now, moving it will fail as well.
    void look().then(rearm, () => undefined);
  };

  return {
    /** Records a reading, and returns it. */
    note: (at: TimeInterval): TimeInterval => {
      if (last !== undefined && at.earliestMs > last.at.latestMs) isSeen = true;
      last = { at, realMs: nowMs() };
      if (first?.at.earliestMs !== at.earliestMs || first.at.latestMs !== at.latestMs) first = last;
      const leftOpenMs = at.latestMs - at.earliestMs;
      if (last.realMs - first.realMs > STILL_MS + leftOpenMs) isStill = true;
      return at;
    },
    /** Called before and after moving the clock: readings on both sides of a move say nothing about whether it runs. */
    moves: (): void => {
      last = undefined;
      first = undefined;
    },
    /** Whether time has been seen to run by itself. */
    isSeen: (): boolean => isSeen,
    /** Whether time has been seen to stand still, and never to run by itself. */
    isStill: (): boolean => isStill && !isSeen,
    /** The time of a clock that only moves by hook, from a very recent reading; undefined if a new reading is needed. */
    standsAt: (): TimeInterval | undefined =>
      isStill && !isSeen && last !== undefined && nowMs() - last.realMs < FRESH_MS ? last.at : undefined,
    /** Sleepers came or went. */
    rearm,
  };
};

/** The longest delay that `setTimeout` takes, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
