import type { TimeInterval } from "../../judging/interval.ts";
import { monotonicMs } from "../clock.ts";

/** How far a clock went between two readings, less than 0 if back, and how long that took in real time; in milliseconds. */
export interface Jump {
  readonly wentMs: number;
  readonly tookMs: number;
}

/** A clock that has not moved for this long, beyond the uncertainty of its readings, moves only by hook; in milliseconds. */
const STILL_MS = 500;
/** How long a reading may stand in for the next, in milliseconds; someone else may still move the clock. */
const FRESH_MS = 100;

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

/** Learns from readings whether a clock runs by itself, and whether somebody else sets it. */
export const watchFlow = (nowMs = monotonicMs) => {
  let runs = false;
  let isStill = false;
  /** The first reading since the clock was moved. */
  let first: typeof last;
  let last: { readonly at: TimeInterval; readonly realMs: number } | undefined;
  const jumps = watchJumps();
  return {
    /** Records what a reading gave, and returns it. */
    note: (at: TimeInterval): TimeInterval => {
      const realMs = nowMs();
      const wentMs = last === undefined ? 0 : wentBetween(last.at, at);
      const isJump = jumps.isOne({ wentMs, tookMs: realMs - (last?.realMs ?? realMs) });
      if (wentMs > 0 && !isJump) runs = true;
      last = { at, realMs };
      if (first?.at.earliestMs !== at.earliestMs || first.at.latestMs !== at.latestMs) first = last;
      if (realMs - first.realMs > STILL_MS + at.latestMs - at.earliestMs) isStill = true;
      return at;
    },
    /** Called when the clock is moved: readings on both sides of a move say nothing about whether it runs. */
    moved: (): void => {
      last = undefined;
      first = undefined;
    },
    /**
     * The first time that the clock went further than any clock runs by itself, since something else moves it then; or
     * else the furthest that it went back.
     */
    jump: jumps.worst,
    /** Whether time has been seen to run by itself. */
    runs: (): boolean => runs,
    /** Whether time has been seen to stand still, and never to run by itself. */
    isStill: (): boolean => isStill && !runs,
    /** The time of a clock that only moves by hook, from a very recent reading; undefined if a new reading is needed. */
    standsAt: (): TimeInterval | undefined =>
      isStill && !runs && last !== undefined && nowMs() - last.realMs < FRESH_MS ? last.at : undefined,
  };
};

/** Reads and moves a clock, one at a time: whoever asks before a reading begins shares it. */
export const createReadings = (
  read: () => Promise<TimeInterval>,
  verify: (() => void) | undefined,
  nowMs = monotonicMs,
) => {
  const flow = watchFlow(nowMs);
  let queue: Promise<unknown> = Promise.resolve();
  let next: Promise<TimeInterval> | undefined;
  let asking = 0;
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const done = queue.then(task);
    queue = done.catch(() => undefined);
    return done;
  };
  const readNext = (): Promise<TimeInterval> =>
    inTurn(async () => {
      // What is asked for within one turn of the event loop is one reading.
      if (flow.runs()) await new Promise((resolve) => void setImmediate(resolve));
      next = undefined;
      return flow.note(await read());
    });
  return {
    flow,
    /** Whether somebody waits for a reading. */
    isAsked: (): boolean => asking > 0,
    now: async (): Promise<TimeInterval> => {
      verify?.();
      const standing = flow.standsAt();
      if (standing !== undefined) return standing;
      asking += 1;
      try {
        return await (next ??= readNext());
      } finally {
        asking -= 1;
      }
    },
    move: (advance: () => Promise<TimeInterval>): Promise<TimeInterval> =>
      inTurn(async () => {
        flow.moved();
        return flow.note(await advance());
      }),
  };
};
