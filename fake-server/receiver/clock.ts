import { performance } from "node:perf_hooks";

/** Sampling interval for the lateness of the event loop's timers. */
const SAMPLE_MS = 20;

/** A moment on the receiver's monotonic clock, with the maximum time the bytes may have waited before it. */
export interface Stamp {
  readonly ms: number;
  readonly uncertaintyMs: number;
}

/** To the microsecond: more digits are noise, and long in JSON. */
export const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;

export type ReceiverClock = ReturnType<typeof createReceiverClock>;

/** A day, well within the range of Node's timers. */
const LONGEST_DELAY_MS = 86_400_000;

/**
 * The receiver's own time, in milliseconds since its creation. A stamp is taken when the event loop delivers the bytes,
 * which may have waited. They did not arrive before the loop last polled the kernel, and nothing waits while the loop
 * is idle, so they waited at most as long as the loop has been busy since the previous turn began. If the machine was
 * too busy to wake the process, the process cannot measure that; the lateness of a timer is used instead.
 */
export const createReceiverClock = () => {
  const epochMs = performance.now();
  const nowMs = (): number => performance.now() - epochMs;
  let [turnOpen, busyAtTurn, busyAtTurnBefore] = [false, 0, 0];
  let [expectedMs, lateMs] = [nowMs() + SAMPLE_MS, 0];
  const sampler = setInterval(() => {
    const now = nowMs();
    lateMs = Math.max(0, now - expectedMs);
    expectedMs = now + SAMPLE_MS;
  }, SAMPLE_MS);
  sampler.unref();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let [date, dateSecond] = ["", -1];

  const endTurn = (): void => void (turnOpen = false);

  return {
    nowMs,
    /** Stamps what the event loop has just delivered. */
    stamp: (): Stamp => {
      const ms = nowMs();
      const busyMs = ms - performance.nodeTiming.idleTime;
      if (!turnOpen) {
        turnOpen = true;
        busyAtTurnBefore = busyAtTurn;
        busyAtTurn = busyMs;
        setImmediate(endTurn);
      }
      return { ms, uncertaintyMs: Math.max(busyMs - busyAtTurnBefore, lateMs, ms - expectedMs, 0) };
    },
    /** ISO 8601. */
    wallTime: (): string => new Date().toISOString(),
    /** The wall clock to the second. */
    httpDate: (): string => {
      const second = Math.floor(Date.now() / 1_000);
      if (second !== dateSecond) [date, dateSecond] = [new Date(second * 1_000).toUTCString(), second];
      return date;
    },
    /** Runs `task` after `ms` of real time; the returned function cancels it. */
    after: (ms: number, task: () => void): (() => void) => {
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          task();
        },
        Math.min(ms, LONGEST_DELAY_MS),
      );
      timers.add(timer);
      return () => {
        timers.delete(timer);
        clearTimeout(timer);
      };
    },
    stop: (): void => {
      clearInterval(sampler);
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
