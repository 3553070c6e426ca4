import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";

export interface RunnerClock {
  /** Monotonic, from an arbitrary origin. */
  readonly nowMs: () => number;
  /** For records, and to place what other processes stamp with it. */
  readonly wallTime: () => Date;
  /** Resolves after so long; rejects with an AbortError as soon as the signal says so. */
  readonly sleep: (durationMs: number, signal?: AbortSignal) => Promise<void>;
  /** Runs a task later, without keeping the process alive for it; the returned function takes it back. */
  readonly after: (durationMs: number, task: () => void) => () => void;
}

export const runnerClock: RunnerClock = {
  nowMs: () => performance.now(),
  wallTime: () => new Date(),
  sleep: async (durationMs, signal) => {
    await delay(durationMs, undefined, signal === undefined ? {} : { signal });
  },
  after: (durationMs, task) => {
    const timer = setTimeout(task, durationMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
