import { createTimers, type Timer } from "./timers.ts";

export const clockModes = ["frozen", "flowing", "jumping"] as const;
/**
 * `frozen` moves only when it is advanced; `flowing` moves with real time as well; `jumping` is frozen, and an advance
 * does not stop on the way, so that all that was due there leaves late.
 */
export type ClockMode = (typeof clockModes)[number];

/** Where a frozen clock begins when nothing else is asked for: 2026-01-01T00:00:00Z. */
export const FROZEN_START_MS = 1_767_225_600_000;
/** The longest delay that Node's timers take; a later one is armed again on the way. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface Advance {
  /** The service's time afterwards, in milliseconds since 1970. */
  readonly now: number;
  readonly fired: number;
  /** How many pieces of work are still under way that no longer moved, such as a push to a receiver that hangs. */
  readonly inFlight: number;
  /** When the next timer is due, or null when none is set. */
  readonly nextDue: number | null;
}

/** The service's own time and the queue of what it has to do later. */
export interface ServiceClock {
  readonly mode: ClockMode;
  /** Milliseconds since 1970, whole. */
  readonly nowMs: () => number;
  /** Moves time forward by `byMs`, from one due timer to the next, awaiting what each sets off. */
  readonly advance: (byMs: number) => Promise<Advance>;
  /** Runs `task` once when the clock reaches `dueMs`; the returned function takes it back. */
  readonly schedule: (dueMs: number, task: () => void | Promise<void>) => () => void;
  /** Begins a piece of work in real time, which an advance awaits as long as it moves. */
  readonly begin: () => Work;
  /** How many pieces of work are under way. */
  readonly inFlight: () => number;
  /** Lets real time pass, never the service's: how slow work takes its time. 0 yields one turn of the event loop. */
  readonly pause: (realMs: number) => Promise<void>;
  /** Milliseconds of real time since some fixed moment; never runs backwards. */
  readonly realMs: () => number;
  /** Forgets every timer and lets the process end. */
  readonly stop: () => void;
}

/** A piece of work that takes real time, such as one push. */
export interface Work {
  /** It got on: a connection stands, bytes came, its time is over. */
  readonly moved: () => void;
  readonly done: () => void;
}

/** How long an advance awaits work that does not move, unless told otherwise. */
const PATIENCE_MS = 150;
/** Real time is looked at in ticks, so that a stall of this process, which holds up the work as well, counts as one. */
const TICK_MS = 10;
/** Work that moves but never ends, such as an answer byte by byte, is awaited for so many times the patience. */
const ENDLESS = 8;

export const realMs = (): number => performance.now();

/** Real time, in milliseconds since 1970, but no earlier than `earliestMs`. */
export const notBefore = (earliestMs: number): number => Math.max(earliestMs, Date.now());

export const pause = (ms: number): Promise<void> =>
  ms > 0
    ? new Promise((resolve) => {
        setTimeout(resolve, ms);
      })
    : new Promise((resolve) => {
        setImmediate(resolve);
      });

/**
 * Makes the service's clock. An advance never jumps over a timer: the clock steps to
 * the earliest due moment, fires what is due then in the order in which it was set,
 * awaits what that set off, and looks again, because what was fired may have set
 * further timers. Work that has not moved for `patienceMs` of real time is awaited no
 * longer: time has to pass for it to end, as for a push whose receiver hangs.
 */
export const createClock = (
  mode: ClockMode,
  startTimeMs?: number,
  patienceMs: number = PATIENCE_MS,
): ServiceClock => {
  const startMs = startTimeMs ?? (mode === "flowing" ? Date.now() : FROZEN_START_MS);
  const openedMs = realMs();
  const timers = createTimers();
  const works = createWorks(Math.max(1, Math.ceil(patienceMs / TICK_MS)));
  let advancedMs = 0;
  let sequence = 0;
  const inTurn = createTurns();

  const flowedMs = (): number => (mode === "flowing" ? Math.floor(realMs() - openedMs) : 0);
  const nowMs = (): number => startMs + advancedMs + flowedMs();
  const alarm = createAlarm(timers, mode, nowMs);
  const moveTo = (targetMs: number): void => {
    advancedMs += Math.max(0, targetMs - nowMs());
  };

  const advanceNow = async (byMs: number): Promise<Advance> => {
    const targetMs = nowMs() + byMs;
    let fired = 0;
    await works.quiet();
    if (mode === "jumping") moveTo(targetMs);
    for (let next = timers.first(); next !== undefined && next.dueMs <= targetMs; next = timers.first()) {
      moveTo(next.dueMs);
      fired += await fireDue(timers, next.dueMs);
      await works.quiet();
    }
    moveTo(targetMs);
    // What was set was set for the time before the advance.
    alarm.setAnew();
    return { now: nowMs(), fired, inFlight: works.size(), nextDue: timers.first()?.dueMs ?? null };
  };

  return {
    mode,
    nowMs,
    pause,
    realMs,
    begin: works.begin,
    inFlight: works.size,
    advance: (byMs) => inTurn(() => advanceNow(byMs)),
    schedule: (dueMs, task) => {
      const timer: Timer = { dueMs, sequence, task };
      sequence += 1;
      timers.add(timer);
      alarm.set();
      return () => {
        timers.remove(timer);
        alarm.set();
      };
    },
    stop: () => {
      timers.clear();
      alarm.clear();
    },
  };
};

/** Runs pieces of work one after another, in the order in which they are given. */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
};

type Timers = ReturnType<typeof createTimers>;

/** Fires what is due by `byMs`, one after another, and says how many that were. */
const fireDue = async (timers: Timers, byMs: number): Promise<number> => {
  let fired = 0;
  for (let next = timers.first(); next !== undefined && next.dueMs <= byMs; next = timers.first()) {
    timers.remove(next);
    fired += 1;
    const running = next.task();
    if (running !== undefined) await running;
  }
  return fired;
};

/** One real timer for the earliest due task, on a flowing clock only. Time flows there whether work moves or not. */
const createAlarm = (timers: Timers, mode: ClockMode, nowMs: () => number) => {
  let alarm: ReturnType<typeof setTimeout> | undefined;
  let setFor: Timer | undefined;
  const set = (): void => {
    const next = mode === "flowing" ? timers.first() : undefined;
    if (next !== undefined && next === setFor) return;
    clearTimeout(alarm);
    setFor = next;
    if (next === undefined) return;
    const delayMs = Math.min(Math.max(0, next.dueMs - nowMs()), LONGEST_TIMER_MS);
    alarm = setTimeout(() => {
      setFor = undefined;
      // A task that fails has failed by itself; the ones due after it still get their turn.
      void fireDue(timers, nowMs()).then(set, set);
    }, delayMs);
    alarm.unref();
  };
  return {
    set,
    setAnew: (): void => {
      setFor = undefined;
      set();
    },
    clear: (): void => {
      clearTimeout(alarm);
      setFor = undefined;
    },
  };
};

interface Awaited {
  ticks: number;
}

const nothing = (): void => undefined;

/** What is under way in real time, and the waiting for it. */
const createWorks = (patienceTicks: number) => {
  const all = new Set<Awaited>();
  /** Those that an advance still waits for: the others were given up as hanging. */
  const awaited = new Set<Awaited>();
  let stillTicks = 0;
  let wake = nothing;

  const settle = (work: Awaited): void => {
    all.delete(work);
    awaited.delete(work);
    stillTicks = 0;
    if (awaited.size === 0) wake();
  };
  const nextTick = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, TICK_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    size: () => all.size,
    begin: (): Work => {
      const work = { ticks: 0 };
      all.add(work);
      awaited.add(work);
      stillTicks = 0;
      return {
        moved: () => {
          stillTicks = 0;
          if (all.has(work)) awaited.add(work);
        },
        done: () => settle(work),
      };
    },
    /** Returns once nothing is under way that still moves. */
    quiet: async (): Promise<void> => {
      stillTicks = 0;
      while (awaited.size > 0) {
        await nextTick();
        stillTicks += 1;
        for (const work of awaited) {
          work.ticks += 1;
          if (stillTicks >= patienceTicks || work.ticks >= patienceTicks * ENDLESS) awaited.delete(work);
        }
      }
    },
  };
};
