import type { TimeInterval } from "../../judging/interval.ts";
import { monotonicMs, pause, type ClockSource } from "../clock.ts";
import { watchFlow, type FlowWatch } from "./flow.ts";
import { canWait, joinedClock, createSleepers, SleepEnded, type Sleepers } from "./joined-clock.ts";

/** What a virtual clock is built from: the target's hooks, and the number of requests in flight. */
export interface VirtualTime {
  readonly now: () => Promise<TimeInterval>;
  /** Advances the target's clock, which reads `from`, by at least this much and returns its time then. */
  readonly advance: (durationMs: number, from: TimeInterval) => Promise<TimeInterval>;
  /** Throws if what the clock showed cannot be relied on, where that shows without reading it. */
  readonly verify?: (() => void) | undefined;
  /** Requests in flight to the target; time stands still for them. */
  readonly inFlight: () => number;
  /**
   * Set if an interval's earliest moment moves only by what the clock was advanced: a sleep is then over once that has
   * moved far enough, and need not outlast the interval's width.
   */
  readonly isReckoned?: boolean;
  /** Ends every sleep, now and later. */
  readonly signal?: AbortSignal;
}

const IDLE_RECHECK_MS = 1;
/**
 * If a clock that runs by itself has less than this to go, or less than the last move took, wait instead of moving it;
 * in milliseconds. Some hooks take seconds, and no rule needs a clock moved that will be there as soon.
 */
const LEAST_MOVE_MS = 700;
/** Upper bound on that wait, since the clock may run slower than real time; in milliseconds. */
const LONGEST_WAIT_MS = 5_000;

/**
 * The target's time moves only when every participant sleeps and no request is in flight; then it moves to the earliest
 * wake-up. So a rule that does not sleep sees time stand still (unless the clock runs by itself), and all sleeping
 * rules share one timeline of any length. If time runs by itself, due sleepers are woken at once, even if others are
 * still working.
 */
export const virtualClock = (
  time: VirtualTime,
): ClockSource & {
  /** Whether time has been seen to run by itself. */
  readonly isFlowing: () => boolean;
} => {
  const sleepers = createSleepers(() => flow.rearm());
  const flow = watchFlow({
    dueMs: sleepers.deadlineMs,
    look: async () => sleepers.wakeDue(await read(), flow.isSeen()),
  });
  const read = async (): Promise<TimeInterval> => {
    const begun = flow.begin();
    return flow.note(await time.now(), begun);
  };
  const reader = createReader({ now: read, verify: time.verify }, flow, (now) => {
    if (flow.isSeen()) sleepers.wakeDue(now, true);
  });
  const mover = createMover(
    { ...time, now: read },
    sleepers,
    flow,
    () => time.inFlight() === 0 && !reader.isReading(),
  );
  const interrupt = (): void =>
    sleepers.fail(
      () => true,
      () => new SleepEnded("interrupted"),
    );
  time.signal?.addEventListener("abort", interrupt, { once: true });
  let doubt: { readonly why: string; readonly fromMs: number } | undefined;
  const fits = (durationMs: number): boolean =>
    canWait(durationMs) && durationMs < (doubt?.fromMs ?? Infinity);
  const distrusted = (): string | undefined => doubt?.why;
  const shared = {
    canWait: fits,
    distrusted,
    isReckoned: time.isReckoned === true,
    signal: time.signal,
    read: reader.read,
    sleepers,
    isFlowing: () => flow.isSeen(),
    isStill: () => flow.isStill(),
    begun: new Map<number, number>(),
    move: () => void mover.move(),
  };
  return {
    kind: "virtual",
    canWait: fits,
    distrust: (why, fromMs) => void (doubt = { why, fromMs }),
    distrusted,
    isFlowing: flow.isSeen,
    join: () => joinedClock(shared, sleepers.participants),
    jumped: async () => {
      await reader.read();
      return flow.jump();
    },
    waiting: () => ({ sleepers: sleepers.count(), nextInMs: undefined, movingForMs: mover.movingForMs() }),
  };
};

/**
 * Reads the clock for all callers. A case that reads the clock is awake, like one that waits for an answer, even if
 * others of its rule sleep.
 */
const createReader = (
  time: Pick<VirtualTime, "now" | "verify">,
  flow: FlowWatch,
  seen: (now: TimeInterval) => void,
) => {
  let readings = 0;
  let next: Promise<TimeInterval> | undefined;
  let latest: Promise<unknown> = Promise.resolve();

  /**
   * A reading that starts after this call, for all who call before it starts: those of one turn of the event loop or, unless
   * time runs by itself, all during an earlier reading, since later ones are the same.
   */
  const sharedReading = (): Promise<TimeInterval> => {
    const begin = flow.isSeen() ? new Promise((resolve) => void setImmediate(resolve)) : latest;
    next ??= begin.then(() => {
      next = undefined;
      const reading = time.now();
      latest = reading.catch(() => undefined);
      return reading;
    });
    return next;
  };

  return {
    isReading: () => readings > 0,
    read: async (): Promise<TimeInterval> => {
      time.verify?.();
      const standing = flow.standsAt();
      if (standing !== undefined) return standing;
      readings += 1;
      try {
        const now = await sharedReading();
        seen(now);
        return now;
      } finally {
        readings -= 1;
      }
    },
  };
};

/**
 * The most waits for one moment that do not even halve what is left, and how much longer each is than the one before, in
 * milliseconds: timers come early, and clocks tick.
 */
const MOST_IN_VAIN = 3;
const LONGER_MS = 10;

/**
 * Waits for a clock that runs by itself to reach a moment so near that moving it there would take longer. No longer waits
 * once several did not even halve what was left: the clock runs slower than real time, or only while it is asked.
 */
const waitingForFlow = (flow: FlowWatch, signal: AbortSignal | undefined) => {
  let awaited = { stopMs: NaN, leftMs: Infinity, inVain: 0 };
  let isSlow = false;
  let moveTakesMs = 0;
  const comesByItself = async (stopMs: number, leftMs: number): Promise<boolean> => {
    const mostMs = Math.max(LEAST_MOVE_MS, Math.min(moveTakesMs, LONGEST_WAIT_MS));
    if (!flow.isSeen() || leftMs > mostMs) return false;
    const isInVain = awaited.stopMs === stopMs && leftMs > awaited.leftMs / 2;
    const inVain = isInVain ? awaited.inVain + 1 : 0;
    isSlow ||= inVain >= MOST_IN_VAIN;
    if (isSlow) return false;
    awaited = { stopMs, leftMs, inVain };
    // One slow move, such as of a busy target, must not keep others from being tried and measured.
    moveTakesMs /= 2;
    await pause(leftMs + inVain * LONGER_MS, signal).catch(() => undefined);
    return true;
  };
  return { comesByItself, moveTook: (tookMs: number) => void (moveTakesMs = tookMs) };
};

/** Moves time as long as everyone sleeps; only one mover works at a time. */
const createMover = (time: VirtualTime, sleepers: Sleepers, flow: FlowWatch, isQuiet: () => boolean) => {
  let moving = false;
  let advancingSinceMs: number | undefined;
  const waiting = waitingForFlow(flow, time.signal);

  const settled = async (): Promise<boolean> => {
    for (;;) {
      // Two turns of the event loop let continuations of finished requests start their next one.
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      if (!sleepers.allSleep()) return false;
      if (isQuiet()) return true;
      await pause(IDLE_RECHECK_MS);
    }
  };

  const step = async (): Promise<boolean> => {
    const before = flow.standsAt() ?? (await time.now());
    sleepers.wakeDue(before, flow.isSeen());
    // Someone may have been woken by now, or gone to sleep for a shorter time than all others.
    if (!sleepers.allSleep()) return false;
    const stopMs = sleepers.nextStopMs(before.earliestMs);
    if (await waiting.comesByItself(stopMs, stopMs - before.earliestMs)) return true;
    flow.moves();
    advancingSinceMs = monotonicMs();
    const after = await time.advance(stopMs - before.earliestMs, before);
    waiting.moveTook(monotonicMs() - advancingSinceMs);
    advancingSinceMs = undefined;
    flow.moves();
    flow.note(after);
    sleepers.wakeDue(after, flow.isSeen());
    return true;
  };

  const move = async (): Promise<void> => {
    // Asked again whenever someone falls asleep or leaves, so most calls end here.
    if (moving || !sleepers.allSleep()) return;
    moving = true;
    try {
      while ((await settled()) && (await step()));
    } catch (error) {
      sleepers.fail(
        () => true,
        () => error,
      );
    } finally {
      moving = false;
      advancingSinceMs = undefined;
      // A sleeper that came after the last check found a mover at work, so it still needs one.
      if (sleepers.allSleep()) void move();
    }
  };
  return {
    move,
    movingForMs: () => (advancingSinceMs === undefined ? undefined : monotonicMs() - advancingSinceMs),
  };
};
