export const clockModes = ["frozen", "flowing", "jumping"] as const;
/**
 * `frozen` only moves when advanced; `flowing` also moves with real time; `jumping` is frozen, and an advance does not
 * stop on the way, so everything due in between is late.
 */
export type ClockMode = (typeof clockModes)[number];

/** The default start of a frozen clock: 2026-01-01T00:00:00Z. */
export const FROZEN_START_MS = 1_767_225_600_000;
/** Maximum delay of Node's timers; a longer one is re-armed. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface Advance {
  /** The service's time afterwards, in milliseconds since 1970. */
  readonly now: number;
  readonly fired: number;
  /** Number of work items still in flight that no longer progress, such as a push to a hanging receiver. */
  readonly inFlight: number;
  /** When the next timer is due, or null if none is set. */
  readonly nextDue: number | null;
}

/** The service's time and its queue of future work. */
export type ServiceClock = ReturnType<typeof createClock>;

/** A piece of work that takes real time, such as one push. */
export interface Work {
  /** Reports progress: connected, received bytes, or timed out. */
  readonly moved: () => void;
  readonly done: () => void;
}

/** How long an advance awaits work without progress, by default. */
const PATIENCE_MS = 150;
/**
 * Real time is measured in ticks, so that a stall of this process, which delays the work as well, counts as a single
 * one.
 */
const TICK_MS = 10;
/** Work that progresses but never ends, such as an answer byte by byte, is awaited for this many times the patience. */
const ENDLESS = 8;

/** Monotonic real time in milliseconds. */
export const realMs = (): number => performance.now();

/** Real time in milliseconds since 1970, but at least `earliestMs`. */
export const notBefore = (earliestMs: number): number => Math.max(earliestMs, Date.now());

/**
 * Waits in real time, without moving the service's clock, to simulate slow work. 0 yields one turn of the event loop.
 */
export const pause = (ms: number): Promise<void> =>
  ms > 0
    ? new Promise((resolve) => {
        setTimeout(resolve, ms);
      })
    : new Promise((resolve) => {
        setImmediate(resolve);
      });

/**
 * Creates the service's clock. An advance never jumps over a timer: the clock steps to the earliest due moment, fires
 * everything due then in order of creation, awaits what that triggered, and repeats, because fired tasks may have set
 * further timers. Work without progress for `patienceMs` of real time is no longer awaited: it needs time to pass, like
 * a push to a hanging receiver.
 */
export const createClock = (mode: ClockMode, startTimeMs?: number, patienceMs = PATIENCE_MS) => {
  const startMs = startTimeMs ?? (mode === "flowing" ? Date.now() : FROZEN_START_MS);
  const openedMs = realMs();
  const timers = createTimers();
  const works = createWorks(Math.max(1, Math.ceil(patienceMs / TICK_MS)));
  let [advancedMs, sequence] = [0, 0];
  const inTurn = createTurns();

  const nowMs = (): number =>
    startMs + advancedMs + (mode === "flowing" ? Math.floor(realMs() - openedMs) : 0);
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
    // The real timer was set for the time before the advance.
    alarm.setAnew();
    return { now: nowMs(), fired, inFlight: works.size(), nextDue: timers.first()?.dueMs ?? null };
  };

  return {
    mode,
    /** Whole milliseconds since 1970. */
    nowMs,
    pause,
    realMs,
    /** Starts a piece of work in real time, which an advance awaits while it progresses. */
    begin: works.begin,
    inFlight: works.size,
    /** Moves time forward by `byMs`, from one due timer to the next, awaiting what each triggers. */
    advance: (byMs: number): Promise<Advance> => inTurn(() => advanceNow(byMs)),
    /** Runs `task` once when the clock reaches `dueMs`; the returned function cancels it. */
    schedule: (dueMs: number, task: Timer["task"]): (() => void) => {
      const timer: Timer = { dueMs, sequence: (sequence += 1), task };
      timers.add(timer);
      alarm.set();
      return () => {
        timers.remove(timer);
        alarm.set();
      };
    },
    /** Forgets all timers and lets the process end. */
    stop: (): void => {
      timers.clear();
      alarm.clear();
    },
  };
};

/** Runs tasks one after another, in the given order. */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
};

type Timers = ReturnType<typeof createTimers>;

/** Fires everything due by `byMs`, one after another, and returns the count. */
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

/** A real timer for the earliest due task, on a flowing clock only. Time flows there whether work progresses or not. */
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
      // A failing task fails alone; later due tasks still run.
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

/** Work in flight in real time, and waiting for it. */
const createWorks = (patienceTicks: number) => {
  const all = new Set<Awaited>();
  /** Work that an advance still waits for; the rest was given up as hanging. */
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
    /** Number of work items in flight. */
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
    /** Resolves once nothing in flight still progresses. */
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

/** A task for a moment of the service's time. */
export interface Timer {
  readonly dueMs: number;
  /** Timers due at the same moment fire in order of creation. */
  readonly sequence: number;
  readonly task: () => void | Promise<void>;
}

/** Timers by (due, sequence). Most are added at the end and taken at the front, which costs almost nothing. */
export const createTimers = () => {
  const sorted: Timer[] = [];
  /** Index of the next timer: those before it were removed, and are dropped in bulk. */
  let front = 0;
  const placeOf = (timer: Timer): number => {
    let [low, high] = [front, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (comesBefore(sorted[middle] ?? timer, timer)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    first: (): Timer | undefined => sorted[front],
    add: (timer: Timer): void => void sorted.splice(placeOf(timer), 0, timer),
    /** Removes a timer; does nothing if already removed. */
    remove: (timer: Timer): void => {
      const place = placeOf(timer);
      if (sorted[place] !== timer) return;
      if (place > front) sorted.splice(place, 1);
      else front += 1;
      if (front * 2 <= sorted.length) return;
      sorted.splice(0, front);
      front = 0;
    },
    clear: (): void => {
      sorted.length = 0;
      front = 0;
    },
  };
};

const comesBefore = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.sequence < other.sequence);
