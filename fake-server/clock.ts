export const clockModes = ["frozen", "flowing"] as const;
/** `frozen` moves only when it is advanced; `flowing` moves with real time as well. */
export type ClockMode = (typeof clockModes)[number];

/** Where a frozen clock begins when nothing else is asked for: 2026-01-01T00:00:00Z. */
export const FROZEN_START_MS = 1_767_225_600_000;
/** The longest delay that Node's timers take; a later one is armed again on the way. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What an advance of the clock did. */
export interface Advance {
  /** The service's time afterwards, in milliseconds since 1970. */
  readonly now: number;
  /** How many timers fired on the way. */
  readonly fired: number;
  /** How many fired tasks are still running. */
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
  /** Lets real time pass, never the service's: how slow work takes its time. 0 yields one turn of the event loop. */
  readonly pause: (realMs: number) => Promise<void>;
  /** Milliseconds of real time since some fixed moment; never runs backwards. */
  readonly realMs: () => number;
  /** Forgets every timer and lets the process end. */
  readonly stop: () => void;
}

interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly task: () => void | Promise<void>;
}

export const realMs = (): number => performance.now();

export const pause = (ms: number): Promise<void> =>
  ms > 0
    ? new Promise((resolve) => {
        setTimeout(resolve, ms);
      })
    : new Promise((resolve) => {
        setImmediate(resolve);
      });

/**
 * Makes the service's clock. An advance never jumps over a timer: the clock steps
 * to the earliest due one, fires it, awaits what it set off, and looks again,
 * because what was fired may have set further timers. Timers due at the same
 * moment fire in the order in which they were set.
 */
export const createClock = (mode: ClockMode, startTimeMs?: number): ServiceClock => {
  const startMs = startTimeMs ?? (mode === "frozen" ? FROZEN_START_MS : Date.now());
  const openedMs = realMs();
  const timers: Timer[] = [];
  let advancedMs = 0;
  let sequence = 0;
  let inFlight = 0;
  let armed: ReturnType<typeof setTimeout> | undefined;
  let advancing: Promise<unknown> = Promise.resolve();

  const flowedMs = (): number => (mode === "flowing" ? Math.floor(realMs() - openedMs) : 0);
  const nowMs = (): number => startMs + advancedMs + flowedMs();
  const moveTo = (targetMs: number): void => {
    advancedMs += Math.max(0, targetMs - nowMs());
  };

  const fire = async (timer: Timer): Promise<void> => {
    timers.splice(timers.indexOf(timer), 1);
    inFlight += 1;
    try {
      await timer.task();
    } finally {
      inFlight -= 1;
    }
  };

  const advanceNow = async (byMs: number): Promise<Advance> => {
    const targetMs = nowMs() + byMs;
    let fired = 0;
    for (let next = earliest(timers); next !== undefined && next.dueMs <= targetMs; next = earliest(timers)) {
      moveTo(next.dueMs);
      await fire(next);
      fired += 1;
    }
    moveTo(targetMs);
    arm();
    return { now: nowMs(), fired, inFlight, nextDue: earliest(timers)?.dueMs ?? null };
  };

  /** Sets one real timer for the earliest due task, on a flowing clock only. */
  const arm = (): void => {
    clearTimeout(armed);
    const next = mode === "flowing" ? earliest(timers) : undefined;
    if (next === undefined) return;
    const delayMs = Math.min(Math.max(0, next.dueMs - nowMs()), LONGEST_TIMER_MS);
    // A task that fails has failed by itself; the ones due after it still get their turn.
    armed = setTimeout(() => void inTurn(() => advanceNow(0)).catch(arm), delayMs);
    armed.unref();
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = advancing.then(work);
    advancing = done.catch(() => undefined);
    return done;
  };

  return {
    mode,
    nowMs,
    pause,
    realMs,
    advance: (byMs) => inTurn(() => advanceNow(byMs)),
    schedule: (dueMs, task) => {
      const timer = { dueMs, sequence, task };
      sequence += 1;
      timers.push(timer);
      arm();
      return () => {
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    stop: () => {
      timers.length = 0;
      clearTimeout(armed);
    },
  };
};

const earliest = (timers: readonly Timer[]): Timer | undefined => {
  let first: Timer | undefined;
  for (const timer of timers) {
    const sooner =
      first === undefined ||
      timer.dueMs < first.dueMs ||
      (timer.dueMs === first.dueMs && timer.sequence < first.sequence);
    if (sooner) first = timer;
  }
  return first;
};
