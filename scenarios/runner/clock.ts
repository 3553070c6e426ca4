import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

export type RunnerClock = typeof runnerClock;

export const runnerClock = {
  /** Monotonic, from an arbitrary origin. */
  nowMs: (): number => performance.now(),
  /** For records, and to place the timestamps of other processes. */
  wallTime: (): Date => new Date(),
  /** Resolves after this time; rejects with an AbortError when the signal aborts. */
  sleep: async (durationMs: number, signal?: AbortSignal): Promise<void> => {
    await delay(durationMs, undefined, signal === undefined ? {} : { signal });
  },
  /** Schedules a task without keeping the process alive for it; the returned function cancels it. */
  after: (durationMs: number, task: () => void): (() => void) => {
    const timer = setTimeout(task, durationMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
