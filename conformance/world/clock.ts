import type { Stall } from "../contract/push-ports.ts";
import { shift, type TimeInterval } from "../judging/interval.ts";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

/** The target's time as a rule sees it. */
export interface Clock {
  readonly kind: "virtual" | "real";
  /** The target's current time, as an interval in milliseconds on the clock's own scale. */
  now(): Promise<TimeInterval>;
  /**
   * Returns once the target's time has advanced by at least this much; never moves it backwards. If a hook moves it and
   * others are due up to `slackMs` later, it may advance to there at once, and all wake together.
   */
  sleep(durationMs: number, slackMs?: number): Promise<void>;
  /**
   * Sleeps until the clock's earliest possible time is at least this, and returns the time then; needs one reading less
   * than `sleep`. `slackMs` as there, `flowingSlackMs` if time runs by itself: then nothing that happens at one moment of
   * a clock that stands does so, and what wakes together delays one another.
   */
  sleepUntil(momentMs: number, slackMs?: number, flowingSlackMs?: number): Promise<TimeInterval>;
  /**
   * Sleeps because the target asked to come back later, or until `early` is aborted. What a case needs may age meanwhile,
   * as while it waits for answers.
   */
  sleepAsAsked(durationMs: number, early?: AbortSignal): Promise<void>;
  /**
   * Returns at a good moment to issue something whose age matters: at the start of a whole second if time can be moved,
   * so that a service that counts seconds rounds nothing away; if time runs by itself, at a moment that no other caller
   * gets, because what starts together also ends together; or after all of these, if it `isShared`. Waits at most about
   * `withinMs`, if given.
   */
  beginSecond(withinMs?: number, isShared?: boolean): Promise<void>;
  /** Whether a wait of this length fits into the run, and its end could be judged. */
  canWait(durationMs: number): boolean;
  /** Whether one that the target asked for fits, also if nothing showed that its clock follows: that judges nothing. */
  canWaitAsAsked(durationMs: number): boolean;
  /** Why nothing showed that the target's clock follows what moves it, if that keeps waits from fitting. */
  distrusted?(): string | undefined;
  /** Whether the target tells its time. If not, intervals are as wide as the run is old. */
  readonly isTold: boolean;
  /** Whether the target's time was seen to stand still unless it is moved; false if unknown. */
  isMovedOnly(): boolean;
  /**
   * Whether time may pass while the target answers: in real time, if it was seen to run by itself, and if the target does
   * not tell it.
   */
  runs(): boolean;
}

/** Sleeps for this much of the target's time from a reading on, and returns the time then: one reading less than `sleep`. */
export const sleepFrom = (
  clock: Pick<Clock, "isTold" | "sleepUntil">,
  now: TimeInterval,
  durationMs: number,
  slackMs = 0,
): Promise<TimeInterval> =>
  clock.sleepUntil((clock.isTold ? now.latestMs : now.earliestMs) + durationMs, slackMs);

export interface JoinedClock extends Clock {
  /** A clock for one case: time does not move unless the case waits. */
  branch(): JoinedClock;
  leave(): void;
}

/** What the target reported about its work when its clock was moved or read. */
export interface UnderWay {
  /** Number of tasks still in flight; undefined if not reported. */
  readonly inFlight: number | undefined;
  /** When it was asked, by `monotonicMs`; what was triggered later is not included. */
  readonly askedMs: number;
}

/** The clocks of one run: each rule joins, sleeps, and leaves. */
export interface ClockSource {
  readonly kind: Clock["kind"];
  canWait(durationMs: number): boolean;
  join(): JoinedClock;
  /** Throws HookError if what the target's clock has shown so far cannot be relied on; absent if nothing could tell. */
  verify?(): void;
  /** Timestamps of the target were seen to follow what moves its clock; any that no longer do make `verify` throw. */
  followed?(): void;
  /** Nothing showed that the target's clock follows what moves it: from now on, waits of this length do not fit into the run. */
  distrust?(why: string, fromMs: number): void;
  /** Why `distrust` was called. */
  distrusted?(): string | undefined;
  /** Whether only moving the target's clock changes its time, by what moves it. */
  readonly isFrozen?: boolean;
  /** The target's last report about its work; undefined before its clock was first moved, or in real time. */
  underWay?(): UnderWay | undefined;
  /** Reads the clock again for a current report. Returns false if only moving the clock gives one. */
  askUnderWay?(): Promise<boolean>;
  /**
   * The latest possible time of the target's clock, from the last reading and the real time since, without asking;
   * undefined if it was never read, or in real time. `isDate` means that it counts from 1970.
   */
  estimate?(): { readonly nowMs: number; readonly isDate: boolean } | undefined;
  /**
   * The target's time at this moment, on its own scale, without asking: the last reading and, if time was seen to run by
   * itself, the real time since; what the clock was advanced by, if the target does not tell its time. Undefined while the
   * clock is moved, before it was first read, and in real time.
   */
  toldMs?(): number | undefined;
  /**
   * Reads the clock, and tells whether it ever went so far between two readings without being moved that something else
   * must have set it: the first time, in milliseconds of its time and of this machine's; or else the furthest that it
   * ever went back, less than 0.
   */
  jumped?(): Promise<{ readonly wentMs: number; readonly tookMs: number } | undefined>;
  /** For progress lines: the number of sleepers, the real time to the next wake-up, and how long the clock is being moved. */
  waiting(): {
    readonly sleepers: number;
    readonly nextInMs: number | undefined;
    readonly movingForMs?: number | undefined;
  };
}

/** Monotonic milliseconds of this process. */
export const monotonicMs = (): number => performance.now();

/** A stopwatch on this machine, for durations in records. */
export const stopwatch = (): (() => number) => {
  const startMs = monotonicMs();
  return () => monotonicMs() - startMs;
};

/** This machine's wall clock, for records and file names only; no verdict depends on it. */
export const wallClock = (): Date => new Date();

/** Waits on this machine's clock, whatever clock the target has. */
export const pause = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
  await delay(durationMs, undefined, signal === undefined ? {} : { signal });
};

/** This machine's time; replaceable for tests without waiting. */
export interface RealTime {
  readonly nowMs: () => number;
  readonly pause: (durationMs: number, signal?: AbortSignal) => Promise<void>;
}
export const realTime: RealTime = { nowMs: monotonicMs, pause };

/** The longest delay of a timer, in milliseconds, which is 25 days; Node lets one that is longer end at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls back once this much of this machine's time, or `LONGEST_TIMER_MS`, has passed, unless cancelled. */
export const after = (durationMs: number, callback: () => void): { cancel(): void } => {
  const timer = setTimeout(callback, Math.min(durationMs, LONGEST_TIMER_MS));
  return { cancel: () => clearTimeout(timer) };
};

/** Calls back at this interval of this machine's time until cancelled; does not keep the process alive. */
export const every = (intervalMs: number, callback: () => void): { cancel(): void } => {
  const timer = setInterval(callback, intervalMs).unref();
  return { cancel: () => clearInterval(timer) };
};

/**
 * Runs something with a signal that aborts when its time is up or the run is interrupted. Leaves no timer behind,
 * unlike AbortSignal.timeout.
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

/** Minimum real time between callers that each need a separate moment, in milliseconds. */
const SPACING_MS = 20;

/**
 * A target with real time. All sleeping rules sleep concurrently, so the run takes as long as its longest rule.
 * `maxWaitMs` limits every single wait.
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
      // Timers may fire slightly early and have a longest delay, so wait repeatedly until the time is really over.
      for (let leftMs = durationMs; leftMs > 0; leftMs = wakeAtMs - monotonicMs())
        await pause(Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS), signal);
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
  const sleepUntil = async (momentMs: number): Promise<TimeInterval> => {
    await sleep(momentMs - monotonicMs());
    return now();
  };
  const clock: JoinedClock = {
    kind: "real",
    isTold: true,
    isMovedOnly: () => false,
    runs: () => true,
    now,
    sleep,
    sleepAsAsked: sleep,
    beginSecond,
    canWait,
    canWaitAsAsked: canWait,
    sleepUntil,
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

/** How often the process is asked to run. Shorter delays are a timer's own. */
const STALL_STEP_MS = 20;

/** Stalls within this time are kept as one: a run may last for days. */
const KEPT_APART_MS = 1_000;

/**
 * Adds up stalls from the moments, in milliseconds, at which the process ran though asked for every step: within a span of
 * `withinMs` it may have done anything that much later, since one push takes several turns of its event loop. A stall
 * that is longer than the span counts whole.
 */
export const sumOfStalls = (withinMs: number, startMs: number) => {
  let recent: readonly { readonly atMs: number; readonly forMs: number }[] = [];
  const all: Stall[] = [];
  let lastMs = startMs;
  let mostMs = 0;
  const keep = (stall: Stall): void => {
    const before = all.at(-1);
    if (before === undefined || stall.latestMs - before.earliestMs > KEPT_APART_MS) all.push(stall);
    else all[all.length - 1] = { ...before, latestMs: stall.latestMs, forMs: before.forMs + stall.forMs };
  };
  return {
    ranAt: (nowMs: number): void => {
      const earliestMs = lastMs;
      const forMs = nowMs - lastMs - STALL_STEP_MS;
      lastMs = nowMs;
      if (forMs < STALL_STEP_MS) return;
      keep({ earliestMs, latestMs: nowMs, forMs });
      recent = [...recent.filter(({ atMs }) => atMs > nowMs - withinMs), { atMs: nowMs, forMs }];
      mostMs = Math.max(
        mostMs,
        recent.reduce((sum, stall) => sum + stall.forMs, 0),
      );
    },
    mostMs: (): number => mostMs,
    all: (): readonly Stall[] => all,
  };
};

/** Watches this process for stalls within spans of `withinMs`: it may have noticed anything that much later. */
export const watchStalls = (withinMs: number) => {
  const sum = sumOfStalls(withinMs, monotonicMs());
  const steps = every(STALL_STEP_MS, () => sum.ranAt(monotonicMs()));
  return {
    /** The most time, in milliseconds, for which it could not run within any span of the length asked for. */
    mostMs: (): number => {
      // Whoever asks may have stalled the process since the last step.
      sum.ranAt(monotonicMs());
      return sum.mostMs();
    },
    /** All stalls so far, on a clock that reads `nowMs` now. */
    by: (nowMs: number): readonly Stall[] => {
      const hereMs = monotonicMs();
      sum.ranAt(hereMs);
      return sum.all().map((stall) => ({ ...stall, ...shift(stall, nowMs - hereMs) }));
    },
    stop: () => steps.cancel(),
  };
};
