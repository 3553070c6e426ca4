import type { TimeInterval } from "../judging/interval.ts";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

/** Time of the target as a rule sees it. One rule holds one clock; all clocks of a run sleep together. */
export interface Clock {
  readonly kind: "virtual" | "real";
  /** The target's present moment, as a bracket on the clock's own scale in milliseconds. */
  now(): Promise<TimeInterval>;
  /**
   * Returns once the target's time has moved on by at least this much; never moves it back or to the past. Where it is
   * moved by hand and others are to wake up to `slackMs` later, it may go on to there at once, and all wake together.
   */
  sleep(durationMs: number, slackMs?: number): Promise<void>;
  /**
   * Sleeps until the clock's earliest moment is at least this, and returns the time then: one look less than by `sleep`.
   * `slackMs` as there, but none where time goes on by itself: who wakes together is in one another's way then.
   */
  sleepUntil(momentMs: number, slackMs?: number): Promise<TimeInterval>;
  /** Returns once this much of the target's time or of this machine's is over, whichever comes first. */
  sleepOnEither(durationMs: number): Promise<void>;
  /**
   * Returns at a good moment for issuing something whose age is to be told: at the beginning of a whole second where
   * time can be moved, so that a service that counts seconds rounds nothing away; and where time goes on by itself, at
   * one that no other caller was given, because those who begin together end together and are in one another's way.
   * Waits for no more than about `withinMs`, where that is given.
   */
  beginSecond(withinMs?: number): Promise<void>;
  /** Whether a stretch of this length fits into the run. */
  canWait(durationMs: number): boolean;
  /** Whether the target tells its time. Where it does not, brackets are as wide as the run is old. */
  readonly isTold: boolean;
}

export interface JoinedClock extends Clock {
  /** A clock for one case of this participant: time does not move while the case is awake. */
  branch(): JoinedClock;
  leave(): void;
}

/** What the target said of its work when its clock was moved, or read. */
export interface UnderWay {
  /** How many pieces of work were still under way; undefined where it says nothing of it. */
  readonly inFlight: number | undefined;
  /** When it was asked, by `monotonicMs`: it knew nothing of what was set off later. */
  readonly askedMs: number;
}

/** What a run is waiting for, in milliseconds of this machine's time. */
export interface Waiting {
  readonly sleepers: number;
  readonly nextInMs: number | undefined;
  /** How long the target's clock has been being moved; undefined where it is not. */
  readonly movingForMs?: number | undefined;
}

/** The clocks of one run: each rule joins, sleeps, and leaves. */
export interface ClockSource {
  readonly kind: Clock["kind"];
  canWait(durationMs: number): boolean;
  join(): JoinedClock;
  /** What the target last said of its work; undefined before its clock was first moved, or where time is real. */
  underWay?(): UnderWay | undefined;
  /** Reads the clock anew, to hear what is under way by now. Returns false where only a move of the clock tells. */
  askUnderWay?(): Promise<boolean>;
  /**
   * The latest moment at which the target's clock may stand, by the last reading and the real time since then, without
   * asking for it; undefined where it was never read, and where time is real. `isDate` says that it counts from 1970.
   */
  estimate?(): { readonly nowMs: number; readonly isDate: boolean } | undefined;
  /** What is being slept for at this moment, for progress lines: how many rules, and the time to the next wake-up. */
  waiting(): Waiting;
}

/** Milliseconds of this process that never run backwards. */
export const monotonicMs = (): number => performance.now();

/** A stopwatch of this machine, for durations in records. */
export const stopwatch = (): (() => number) => {
  const startMs = monotonicMs();
  return () => monotonicMs() - startMs;
};

/** One moment on three clocks, in milliseconds, so that another process can tell how long ago it was. */
export interface Reading {
  /** Since 1970, by the wall clock, which may be set. */
  readonly wallMs: number;
  /** By a clock that all processes share, that is never set, and that starts with the machine. */
  readonly machineMs: number;
  /** As `monotonicMs` tells it to this process. */
  readonly ownMs: number;
}

/** This moment on the clocks of this machine. */
export const reading = (): Reading => ({
  wallMs: Date.now(),
  machineMs: Number(process.hrtime.bigint() / 1_000n) / 1_000,
  ownMs: monotonicMs(),
});

/** Wall clock of this machine, for records and file names only; no verdict rests on it. */
export const wallClock = (): Date => new Date();

/** Waits on this machine's clock, whatever clock the target has. */
export const pause = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
  await delay(durationMs, undefined, signal === undefined ? {} : { signal });
};

/** This machine's time, for what has to be tested without waiting. */
export interface RealTime {
  readonly nowMs: () => number;
  readonly pause: (durationMs: number, signal?: AbortSignal) => Promise<void>;
}
export const realTime: RealTime = { nowMs: monotonicMs, pause };

/** Calls back once this much of this machine's time is over, unless it is cancelled first. */
export const after = (durationMs: number, callback: () => void): { cancel(): void } => {
  const timer = setTimeout(callback, durationMs);
  return { cancel: () => clearTimeout(timer) };
};

/**
 * Runs something with a signal that aborts when its time is up or the run is interrupted. Once it is done
 * nothing of it stays behind: a signal of the platform's own would wait for its time in any case.
 */
export const withDeadline = async <T>(
  durationMs: number,
  interrupted: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController();
  const limit = after(durationMs, () => controller.abort(new Error(`no end within ${durationMs} ms`)));
  const stop = (): void => controller.abort(new Error("interrupted"));
  interrupted?.addEventListener("abort", stop, { once: true });
  if (interrupted?.aborted === true) stop();
  try {
    return await run(controller.signal);
  } finally {
    limit.cancel();
    interrupted?.removeEventListener("abort", stop);
  }
};

/** How far apart callers begin in real time that each need a separate moment, in milliseconds. */
const SPACING_MS = 20;

/**
 * The target's time is the real one. All rules that sleep do so side by side, so
 * the run takes as long as its longest rule. `maxWaitMs` bounds any single wait.
 */
export const realClock = (maxWaitMs: number, signal?: AbortSignal): ClockSource => {
  const wakeUps = new Set<number>();
  let freeFromMs = 0;
  const canWait = (durationMs: number): boolean => durationMs <= maxWaitMs;
  const now = (): Promise<TimeInterval> => {
    const nowMs = monotonicMs();
    return Promise.resolve({ earliestMs: nowMs, latestMs: nowMs });
  };
  const sleep = async (durationMs: number): Promise<void> => {
    const wakeAtMs = monotonicMs() + durationMs;
    wakeUps.add(wakeAtMs);
    try {
      // Timers may fire a fraction early and cannot count beyond 2^31 ms; ask again until the time is really over.
      for (let leftMs = durationMs; leftMs > 0; leftMs = wakeAtMs - monotonicMs())
        await pause(Math.min(Math.ceil(leftMs), 2 ** 31 - 1), signal);
    } finally {
      wakeUps.delete(wakeAtMs);
    }
  };
  const beginSecond = async (withinMs = Infinity): Promise<void> => {
    const nowMs = monotonicMs();
    const mineMs = Math.min(Math.max(nowMs, freeFromMs), nowMs + withinMs);
    freeFromMs = Math.max(freeFromMs, mineMs + SPACING_MS);
    await sleep(mineMs - nowMs);
  };
  const clock: JoinedClock = {
    kind: "real",
    isTold: true,
    now,
    sleep,
    sleepOnEither: sleep,
    beginSecond,
    canWait,
    sleepUntil: async (momentMs) => {
      await sleep(momentMs - monotonicMs());
      return now();
    },
    branch: () => clock,
    leave: () => {},
  };
  return {
    kind: "real",
    canWait,
    join: () => clock,
    waiting: () => ({
      sleepers: wakeUps.size,
      nextInMs: wakeUps.size === 0 ? undefined : Math.max(0, Math.min(...wakeUps) - monotonicMs()),
    }),
  };
};

const STALL_RESOLUTION_MS = 20;

/** Watches for how long at most this process could not run: by so much it may have noticed anything late, in milliseconds. */
export const watchStalls = (): { readonly longestMs: () => number; readonly stop: () => void } => {
  const delays = monitorEventLoopDelay({ resolution: STALL_RESOLUTION_MS });
  delays.enable();
  return {
    // It measures from tick to tick.
    longestMs: () => Math.max(0, delays.max / 1e6 - STALL_RESOLUTION_MS),
    stop: () => void delays.disable(),
  };
};
