import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

export type RunnerClock = typeof runnerClock;

export const runnerClock = {
  /** Monotonic, from an arbitrary origin. */
  nowMs: (): number => performance.now(),
  /** For records, and to place what other processes stamp with it. */
  wallTime: (): Date => new Date(),
  /** Resolves after so long; rejects with an AbortError as soon as the signal says so. */
  sleep: async (durationMs: number, signal?: AbortSignal): Promise<void> => {
    await delay(durationMs, undefined, signal === undefined ? {} : { signal });
  },
  /** Runs a task later, without keeping the process alive for it; the returned function takes it back. */
  after: (durationMs: number, task: () => void): (() => void) => {
    const timer = setTimeout(task, durationMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
