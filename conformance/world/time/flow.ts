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

/** How far a clock went between two readings, less than 0 if back, and how long that took in real time; in milliseconds. */
export interface Jump {
  readonly wentMs: number;
  readonly tookMs: number;
}

/** A clock that has not moved for this long, beyond the uncertainty of its readings, moves only by hook; in milliseconds. */
const STILL_MS = 500;
/** How long a reading may stand in for the next, in milliseconds; someone else may still move the clock. */
const FRESH_MS = 100;

/** When a reading began: after how many calls of `moves`, and by this machine's time. */
interface Begun {
  readonly moves: number;
  readonly realMs: number;
}

/** Pause between two readings of a clock that runs slower than real time, in milliseconds. */
const LEAST_WAIT_MS = 2;

/** Faster than any clock runs by itself: this far, and this many times as far as real time went; in milliseconds. */
const LEAST_JUMP_MS = 60_000;
const FASTEST_FLOW = 100;
/**
 * The clocks of several machines that tell the time in turn may differ by about a second, which rules that judge seconds
 * allow for; in milliseconds.
 */
const LEAST_BACK_MS = 1_050;

const watchJumps = () => {
  let on: Jump | undefined;
  let back: Jump | undefined;
  return {
    isOne: (step: Jump): boolean => {
      const isOn = step.wentMs > LEAST_JUMP_MS + FASTEST_FLOW * step.tookMs;
      const isBack = step.wentMs < -LEAST_BACK_MS;
      if (isOn) on ??= step;
      if (isBack && step.wentMs < (back?.wentMs ?? 0)) back = step;
      return isOn || isBack;
    },
    worst: (): Jump | undefined => on ?? back,
  };
};

/** How far a clock went at least between two readings; 0 if it may have stood. */
const wentBetween = (before: TimeInterval, after: TimeInterval): number =>
  Math.max(0, after.earliestMs - before.latestMs) + Math.min(0, after.latestMs - before.earliestMs);

/** Looks once the next sleeper is due on a clock that runs by itself. `estimate` is its time, if it was read. */
const createAlarm = (
  dueMs: () => number | undefined,
  estimate: () => number | undefined,
  look: () => Promise<void>,
) => {
  let timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;
  const rearm = (): void => {
    const due = dueMs();
    if (due === timer?.dueMs) return;
    timer?.cancel();
    timer = undefined;
    const now = estimate();
    if (due === undefined || now === undefined) return;
    timer = {
      dueMs: due,
      ...after(Math.max(LEAST_WAIT_MS, due - now), () => {
        timer = undefined;
        // If the clock cannot be read now, moving it will fail as well.
        void look().then(rearm, () => undefined);
      }),
    };
  };
  return rearm;
};

export const watchFlow = ({ dueMs, look, nowMs = monotonicMs }: FlowOptions) => {
  let isSeen = false;
  let isStill = false;
  /** The first reading since the clock was moved. */
  let first: typeof last;
  let last: { readonly at: TimeInterval; readonly realMs: number } | undefined;
  let moves = 0;
  const begin = (): Begun => ({ moves, realMs: nowMs() });
  const jumps = watchJumps();
  const rearm = createAlarm(
    () => (isSeen ? dueMs() : undefined),
    () => last && last.at.earliestMs + (nowMs() - last.realMs),
    look,
  );

  return {
    /** A reading of the clock begins. */
    begin,
    /** Records what a reading gave, and returns it. */
    note: (at: TimeInterval, begun = begin()): TimeInterval => {
      // What was read while the clock was moved may be of before or after.
      if (begun.moves !== moves) return at;
      const realMs = nowMs();
      const wentMs = last === undefined ? 0 : wentBetween(last.at, at);
      // Of two readings at a time, the one that ends last may be of the earlier moment.
      const isInOrder = wentMs > 0 || begun.realMs >= (last?.realMs ?? 0);
      const isJump = isInOrder && jumps.isOne({ wentMs, tookMs: realMs - (last?.realMs ?? realMs) });
      if (wentMs > 0 && !isJump) isSeen = true;
      last = { at, realMs };
      if (first?.at.earliestMs !== at.earliestMs || first.at.latestMs !== at.latestMs) first = last;
      const leftOpenMs = at.latestMs - at.earliestMs;
      if (last.realMs - first.realMs > STILL_MS + leftOpenMs) isStill = true;
      return at;
    },
    /** Called before and after moving the clock: readings on both sides of a move say nothing about whether it runs. */
    moves: (): void => {
      moves += 1;
      last = undefined;
      first = undefined;
    },
    /**
     * The first time that the clock went further than any clock runs by itself, since something else moves it then; or
     * else the furthest that it went back.
     */
    jump: jumps.worst,
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
