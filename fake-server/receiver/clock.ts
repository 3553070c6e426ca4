import { performance } from "node:perf_hooks";

/** How often the lateness of the event loop's timers is looked at. */
const SAMPLE_MS = 20;

/** A moment on the receiver's monotonic clock, and by how much the bytes may have been there before it. */
export interface Stamp {
  readonly ms: number;
  readonly uncertaintyMs: number;
}

/** To the microsecond: what is beyond is noise, and long in JSON. */
export const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;

export type ReceiverClock = ReturnType<typeof createReceiverClock>;

/** A day, well within what Node's timers take. */
const LONGEST_DELAY_MS = 86_400_000;

/**
 * The receiver's own time, in milliseconds from the moment at which it was made. A stamp is taken when the event loop hands the bytes over; they may have waited for it. They did
 * not arrive before the loop last asked the kernel, and while the loop is idle nothing waits: so they waited no longer
 * than the loop has been busy since the turn before this one began. Where the machine was too busy to wake the process
 * the process cannot measure that itself; the lateness of a timer is used instead.
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
    /** Stamps what the event loop has just brought. */
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
    /** Runs `task` after `ms` of real time; the returned function takes it back. */
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
