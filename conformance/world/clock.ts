import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { ControlFailed, type Bracket } from "./exchange.ts";
import { duration } from "../contract/duration.ts";

/** Time of the target as a rule sees it. One rule holds one clock; all clocks of a run sleep together. */
export interface Clock {
  readonly kind: "virtual" | "real";
  /** The target's present moment, as a bracket on the clock's own scale in milliseconds. */
  now(): Promise<Bracket>;
  /** Returns once the target's time has moved on by at least this much; never moves it back or to the past. */
  sleep(durationMs: number): Promise<void>;
  /** Whether a stretch of this length fits into the run. */
  canWait(durationMs: number): boolean;
}

/** A clock of one's own in a run. */
export interface JoinedClock extends Clock {
  /** Sleeps until the clock's earliest moment is at least this, and returns where it stood then: one look less than by `sleep`. */
  sleepUntil(momentMs: number): Promise<Bracket>;
  leave(): void;
}

/** The clocks of one run: each rule joins, sleeps, and leaves. */
export interface ClockSource {
  readonly kind: Clock["kind"];
  canWait(durationMs: number): boolean;
  join(): JoinedClock;
  /** What is being slept for at this moment, for progress lines: how many rules, and the time to the next wake-up. */
  waiting(): { readonly sleepers: number; readonly nextInMs: number | undefined };
}

/** Milliseconds of this process that never run backwards. */
export const monotonicMs = (): number => performance.now();

/** Wall clock of this machine, for records and file names only; no verdict rests on it. */
export const wallClock = (): Date => new Date();

/** Waits on this machine's clock, whatever clock the target has. */
export const pause = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
  await delay(durationMs, undefined, signal === undefined ? {} : { signal });
};

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

/**
 * The target's time is the real one. All rules that sleep do so side by side, so
 * the run takes as long as its longest rule. `maxWaitMs` bounds any single wait.
 */
export const realClock = (maxWaitMs: number, signal?: AbortSignal): ClockSource => {
  const wakeUps = new Set<number>();
  const canWait = (durationMs: number): boolean => durationMs <= maxWaitMs;
  const now = (): Promise<Bracket> => {
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
  return {
    kind: "real",
    canWait,
    join: () => ({
      kind: "real",
      now,
      sleep,
      canWait,
      sleepUntil: async (momentMs) => {
        await sleep(momentMs - monotonicMs());
        return now();
      },
      leave: () => {},
    }),
    waiting: () => ({
      sleepers: wakeUps.size,
      nextInMs: wakeUps.size === 0 ? undefined : Math.max(0, Math.min(...wakeUps) - monotonicMs()),
    }),
  };
};

/** What a virtual clock is built from: the target's hooks, and a look at the requests under way. */
export interface VirtualTime {
  /** Reads the target's clock. */
  readonly now: () => Promise<Bracket>;
  /** Moves the target's clock, which stands at `from`, on by at least this much and returns where it stands then. */
  readonly advance: (durationMs: number, from: Bracket) => Promise<Bracket>;
  /** Requests that are under way to the target; time stands still for them. */
  readonly inFlight: () => number;
  /**
   * Where a bracket's earliest moment moves only as far as the clock was advanced: a sleep is
   * then over once that has moved by as much, and need not outlast the bracket's width too.
   */
  readonly isReckoned?: boolean;
  /** Ends every sleep, now and later. */
  readonly signal?: AbortSignal;
}

/** A sleep that is over before its time, because the run was interrupted or the rule is. */
export class SleepEnded extends Error {
  constructor(reason: string) {
    super(`a sleep was ended: ${reason}`);
    this.name = "SleepEnded";
  }
}

interface Participant {
  sleepers: number;
}

interface Sleeper {
  readonly wakeAtMs: number;
  readonly owner: Participant;
  readonly wake: (at: Bracket) => void;
  readonly fail: (reason: unknown) => void;
}

const IDLE_RECHECK_MS = 1;
/** Longer than anything that is granted on purpose; a service that states more has its unit wrong, and no clock can be moved that far. */
const LONGEST_SLEEP_MS = 80 * 365 * 86_400_000;

/**
 * The target's time moves only when everyone who takes part sleeps and no request
 * is under way; then it moves to the earliest wake-up. So a rule that does not
 * sleep sees time stand still (but for a clock that flows by itself), and all
 * rules that sleep share one journey through time, however long it is.
 */
export const virtualClock = (time: VirtualTime): ClockSource => {
  const participants = new Set<Participant>();
  const sleepers = new Set<Sleeper>();
  let moving = false;
  let readings = 0;

  const everyoneSleeps = (): boolean =>
    participants.size > 0 && sleepers.size > 0 && [...participants].every((one) => one.sleepers > 0);

  const wakeDue = (now: Bracket): void => {
    for (const sleeper of sleepers) {
      if (sleeper.wakeAtMs > now.earliestMs) continue;
      sleepers.delete(sleeper);
      sleeper.owner.sleepers -= 1;
      sleeper.wake(now);
    }
  };

  /** A case that looks at the clock is awake, as is one that waits for an answer: others of its rule may sleep already. */
  const read = async (): Promise<Bracket> => {
    readings += 1;
    try {
      return await time.now();
    } finally {
      readings -= 1;
    }
  };

  const settled = async (): Promise<boolean> => {
    for (;;) {
      // Two turns of the event loop let continuations of finished requests start their next one.
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      if (!everyoneSleeps()) return false;
      if (time.inFlight() === 0 && readings === 0) return true;
      await pause(IDLE_RECHECK_MS);
    }
  };

  const move = async (): Promise<void> => {
    if (moving) return;
    moving = true;
    try {
      while (await settled()) {
        const earliestWakeMs = Math.min(...[...sleepers].map((sleeper) => sleeper.wakeAtMs));
        const before = await time.now();
        if (before.earliestMs < earliestWakeMs) {
          wakeDue(await time.advance(earliestWakeMs - before.earliestMs, before));
        } else {
          wakeDue(before);
        }
      }
    } catch (error) {
      rouse(() => true, error);
    } finally {
      moving = false;
      // Who went to sleep between the last look and this line found a mover at work, and is owed one.
      if (everyoneSleeps()) void move();
    }
  };

  /** Makes these sleepers' sleeps end with an error. */
  const rouse = (whom: (sleeper: Sleeper) => boolean, reason: unknown): void => {
    for (const sleeper of sleepers) {
      if (!whom(sleeper)) continue;
      sleepers.delete(sleeper);
      sleeper.owner.sleepers -= 1;
      sleeper.fail(reason);
    }
  };
  time.signal?.addEventListener("abort", () => rouse(() => true, new SleepEnded("interrupted")), {
    once: true,
  });

  const join = (): JoinedClock => {
    const self: Participant = { sleepers: 0 };
    participants.add(self);
    const wakeAt = async (wakeAtMs: number): Promise<Bracket> => {
      if (time.signal?.aborted === true) throw new SleepEnded("interrupted");
      if (!participants.has(self)) throw new SleepEnded("its rule is over");
      return new Promise<Bracket>((wake, fail) => {
        sleepers.add({ wakeAtMs, owner: self, wake, fail });
        self.sleepers += 1;
        void move();
      });
    };
    return {
      kind: "virtual",
      now: read,
      canWait: (durationMs) => durationMs <= LONGEST_SLEEP_MS,
      sleep: async (durationMs) => {
        if (durationMs > LONGEST_SLEEP_MS)
          throw new ControlFailed(`a wait of ${duration(durationMs)} is beyond what any clock is moved by`);
        const { earliestMs, latestMs } = await read();
        await wakeAt((time.isReckoned === true ? earliestMs : latestMs) + durationMs);
      },
      sleepUntil: wakeAt,
      leave: () => {
        participants.delete(self);
        // What a rule left behind must not go on in its name.
        rouse(({ owner }) => owner === self, new SleepEnded("its rule is over"));
        void move();
      },
    };
  };

  return {
    kind: "virtual",
    canWait: (durationMs) => durationMs <= LONGEST_SLEEP_MS,
    join,
    waiting: () => ({ sleepers: sleepers.size, nextInMs: undefined }),
  };
};
