import type { TimeInterval } from "../../judging/interval.ts";
import { after, monotonicMs } from "../clock.ts";

export interface FlowOptions {
  /** The earliest moment, in milliseconds of the target's time, at which someone is to be woken; undefined if there is no sleeper. */
  readonly dueMs: () => number | undefined;
  /** Reads the target's clock and wakes the sleepers that are due. */
  readonly look: () => Promise<void>;
  /** This machine's time; default: the real one. */
  readonly nowMs?: () => number;
}

/** Learns from readings whether a clock goes on by itself, and looks at it again when a sleeper is due. */
export interface FlowWatch {
  /** Takes note of a reading, and returns it. */
  note(at: TimeInterval): TimeInterval;
  /** The clock is about to be moved, or has just been: readings on both sides of it say nothing of a flow. */
  moves(): void;
  /** Whether time has been seen to go on by itself. */
  isSeen(): boolean;
  /** Where a clock stands that only moves by hand, as a reading showed a moment ago; undefined where one has to be made. */
  standsAt(): TimeInterval | undefined;
  /** Sleepers came or went. */
  rearm(): void;
}

/** A clock that has not moved for so long, beyond what its readings leave open, moves by hand alone, in milliseconds. */
const STILL_MS = 500;
/** Somebody else may move it all the same: for no longer than this does a reading stand for the next, in milliseconds. */
const FRESH_MS = 100;

/** Between two looks at a clock that flows more slowly than real time does, in milliseconds. */
const LEAST_WAIT_MS = 2;

export const watchFlow = ({ dueMs, look, nowMs = monotonicMs }: FlowOptions): FlowWatch => {
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
    note: (at) => {
      if (last !== undefined && at.earliestMs > last.at.latestMs) isSeen = true;
      last = { at, realMs: nowMs() };
      if (first?.at.earliestMs !== at.earliestMs || first.at.latestMs !== at.latestMs) first = last;
      const leftOpenMs = at.latestMs - at.earliestMs;
      if (last.realMs - first.realMs > STILL_MS + leftOpenMs) isStill = true;
      return at;
    },
    moves: () => {
      last = undefined;
      first = undefined;
    },
    isSeen: () => isSeen,
    standsAt: () =>
      isStill && !isSeen && last !== undefined && nowMs() - last.realMs < FRESH_MS ? last.at : undefined,
    rearm,
  };
};

/** What timers can count to. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
