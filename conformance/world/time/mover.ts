import type { TimeInterval } from "../../judging/interval.ts";
import { after, monotonicMs, pause } from "../clock.ts";
import type { createReadings } from "./readings.ts";

/** Somebody who waits for a moment, and may wait until a later one. */
export interface Waiter {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly wake: (at: TimeInterval) => void;
  readonly fail: (reason: unknown) => void;
}

/** What a moved clock is built from: the target's hooks, and the number of requests in flight. */
export interface MovedTime {
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

export interface MoverOptions extends Pick<MovedTime, "advance" | "inFlight" | "signal"> {
  readonly readings: ReturnType<typeof createReadings>;
}

/** How many are woken at a time: where time stands their order does not matter. */
const AT_A_TIME = { standing: 64, running: 8 } as const;

/** If time runs by itself, how long before a punctual moment nobody is woken who may wait, in milliseconds. */
const ALONE_MS = 300;
/** Who may wait no longer than this is punctual. */
const PUNCTUAL_MS = 5;

const IDLE_RECHECK_MS = 1;
/** Pause between two readings of a clock that runs slower than real time, in milliseconds. */
const LEAST_PAUSE_MS = 2;

/**
 * If a clock that runs by itself has less than this to go, or less than the last move took, wait instead of moving it;
 * in milliseconds. Some hooks take seconds, and no rule needs a clock moved that will be there as soon.
 */
const LEAST_MOVE_MS = 350;
/** Upper bound on that wait, since the clock may run slower than real time; in milliseconds. */
const LONGEST_WAIT_MS = 5_000;
/**
 * The most waits for one moment that do not even halve what is left, and how much longer each is than the one before, in
 * milliseconds: timers come early, and clocks tick.
 */
const MOST_IN_VAIN = 3;
const LONGER_MS = 10;

/** Those who are due, the most urgent first. */
const dueAmong = (
  waiters: ReadonlySet<Waiter>,
  { earliestMs: nowMs }: TimeInterval,
  runs: boolean,
): readonly Waiter[] => {
  const isPunctualSoon = ({ fromMs, untilMs }: Waiter): boolean =>
    untilMs - fromMs <= PUNCTUAL_MS && fromMs <= nowMs + ALONE_MS;
  const leavesRoom = runs && [...waiters].some(isPunctualSoon);
  return [...waiters]
    .filter((one) => (leavesRoom && !isPunctualSoon(one) ? one.untilMs : one.fromMs) <= nowMs)
    .toSorted((a, b) => a.untilMs - b.untilMs);
};

/** The last moment to which time can advance at once without anyone coming too late. */
const nextStopMs = (waiters: ReadonlySet<Waiter>, { earliestMs: nowMs }: TimeInterval): number => {
  const boundMs = Math.min(...[...waiters].map(({ untilMs }) => untilMs));
  const stopMs = Math.max(...[...waiters].map(({ fromMs }) => fromMs).filter((atMs) => atMs <= boundMs));
  return stopMs > nowMs ? stopMs : boundMs;
};

/** How long a clock that runs by itself is left alone while only requests are in flight, in milliseconds. */
const IN_FLIGHT_MS = 200;

/** Moves time whenever nobody does anything, and wakes who is due. */
export const createMover = (
  options: MoverOptions,
  waiters: ReadonlySet<Waiter>,
  awake: () => number,
  onAlarm: () => void,
) => {
  const { advance, inFlight, signal, readings } = options;
  const { flow } = readings;
  const reaching = reachingByItself(signal);
  let advancingSinceMs: number | undefined;
  let alarm: { cancel(): void } | undefined;

  /** Looks again once the next of them is due on a clock that runs by itself, or after `mostMs`. */
  const lookAgain = (now: TimeInterval, mostMs: number): void => {
    const nextMs = Math.min(now.earliestMs + mostMs, ...[...waiters].map(({ fromMs }) => fromMs));
    // An earlier alarm would keep the process from ending.
    alarm?.cancel();
    alarm = after(Math.max(LEAST_PAUSE_MS, nextMs - now.earliestMs), onAlarm);
  };

  const moveTo = async (stopMs: number, now: TimeInterval): Promise<void> => {
    advancingSinceMs = monotonicMs();
    try {
      await readings.move(() => advance(stopMs - now.earliestMs, now));
      reaching.moveTook(monotonicMs() - advancingSinceMs);
    } finally {
      advancingSinceMs = undefined;
    }
  };

  /** Wakes or moves; returns whether there may be more to do at once. */
  const step = async (): Promise<boolean> => {
    const most = AT_A_TIME[flow.runs() ? "running" : "standing"];
    const wasQuiet = await isQuiet(options, awake);
    if (waiters.size === 0 || awake() >= most || !(wasQuiet || flow.runs())) return false;
    const now = await readings.now();
    const due = dueAmong(waiters, now, flow.runs()).slice(0, most - awake());
    for (const { wake } of due) wake(now);
    if (due.length > 0) return true;
    if (waiters.size === 0) return false;
    if (!wasQuiet || awake() > 0 || inFlight() > 0) {
      // Whoever is awake asks again once it waits or leaves. What is none of the cases, or a part of one, only sends.
      if (flow.runs()) lookAgain(now, awake() > 0 ? Infinity : IN_FLIGHT_MS);
      return !flow.runs() && awake() === 0;
    }
    const stopMs = nextStopMs(waiters, now);
    if (!(flow.runs() && (await reaching.comes(stopMs, stopMs - now.earliestMs)))) await moveTo(stopMs, now);
    return true;
  };

  const steps = oneAtATime(step);
  const pump = (): Promise<void> => {
    alarm?.cancel();
    return steps();
  };
  return {
    pump,
    movingForMs: () => (advancingSinceMs === undefined ? undefined : monotonicMs() - advancingSinceMs),
  };
};

/** Takes steps as long as there is more to do; if it is asked again meanwhile, once more. */
const oneAtATime = (step: () => Promise<boolean>) => {
  let isStepping = false;
  let isAskedAgain = false;
  return async (): Promise<void> => {
    isAskedAgain = true;
    if (isStepping) return;
    isStepping = true;
    try {
      while (isAskedAgain) {
        isAskedAgain = false;
        while (await step());
      }
    } finally {
      isStepping = false;
    }
  };
};

/** Whether nobody does anything: at once if time runs by itself, else as soon as no request is in flight. */
const isQuiet = async ({ inFlight, readings }: MoverOptions, awake: () => number): Promise<boolean> => {
  for (;;) {
    // Two turns of the event loop let continuations of finished requests start their next one.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    if (awake() > 0) return false;
    if (inFlight() === 0 && !readings.isAsked()) return true;
    if (readings.flow.runs()) return false;
    await pause(IDLE_RECHECK_MS);
  }
};

/**
 * Waits for a clock that runs by itself to reach a moment so near that moving it there would take longer. No longer waits
 * once several did not even halve what was left: the clock runs slower than real time, or only while it is asked.
 */
const reachingByItself = (signal: AbortSignal | undefined) => {
  let awaited = { stopMs: NaN, leftMs: Infinity, inVain: 0 };
  let isSlow = false;
  let moveTakesMs = 0;
  const comes = async (stopMs: number, leftMs: number): Promise<boolean> => {
    const mostMs = Math.max(LEAST_MOVE_MS, Math.min(moveTakesMs, LONGEST_WAIT_MS));
    if (leftMs > mostMs) return false;
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
  return { comes, moveTook: (tookMs: number) => void (moveTakesMs = tookMs) };
};
