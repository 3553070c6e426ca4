import type { TimeInterval } from "../../judging/interval.ts";
import { duration, SECOND_MS } from "../../contract/duration.ts";
import { LONGEST_TIMER_MS, pause, type JoinedClock } from "../clock.ts";
import { ControlFailed } from "../exchange.ts";

/** A sleep that ended early, because the run was interrupted or its rule is over. */
export class SleepEnded extends Error {
  constructor(reason: string) {
    super(`a sleep was ended: ${reason}`);
    this.name = "SleepEnded";
  }
}

/** A rule, the push run, or one case of a rule. */
interface Participant {
  sleepers: number;
  readonly branches: Set<Participant>;
}

interface Sleeper {
  readonly wakeAtMs: number;
  /** How far time may advance before the sleeper wakes. */
  readonly latestMs: number;
  readonly owner: Participant;
  readonly wake: (at: TimeInterval) => void;
  readonly fail: (reason: unknown) => void;
}

/** A participant with cases sleeps while all of them do; one without cases, while it has a sleeper. */
const sleeps = ({ sleepers, branches }: Participant): boolean =>
  (sleepers > 0 || branches.size > 0) && allSleep(branches);

const allSleep = (participants: ReadonlySet<Participant>): boolean => {
  for (const one of participants) if (!sleeps(one)) return false;
  return true;
};

/** How long before a punctual moment nobody is woken who may wait, in milliseconds. */
const ALONE_MS = 300;

/**
 * Who is to be woken, those first who must wake first, however late the clock was read. If time runs by itself, whoever
 * may wait leaves the machine to those who must be punctual, now or in a moment.
 */
const dueAmong = (sleepers: readonly Sleeper[], nowMs: number, isFlowing: boolean): readonly Sleeper[] => {
  const isPunctualSoon = ({ wakeAtMs, latestMs }: Sleeper): boolean =>
    latestMs === wakeAtMs && wakeAtMs <= nowMs + ALONE_MS;
  const waitsForOthers = isFlowing && sleepers.some(isPunctualSoon);
  return sleepers
    .filter(({ wakeAtMs, latestMs }) => (waitsForOthers ? latestMs : wakeAtMs) <= nowMs)
    .toSorted((a, b) => a.latestMs - b.latestMs);
};

/** The participants of a clock and their sleepers. `changed` is called whenever sleepers come or go. */
export const createSleepers = (changed: () => void) => {
  const participants = new Set<Participant>();
  const sleepers = new Set<Sleeper>();

  const remove = (sleeper: Sleeper): void => {
    sleepers.delete(sleeper);
    sleeper.owner.sleepers -= 1;
  };

  return {
    participants,
    count: () => sleepers.size,
    allSleep: () => participants.size > 0 && sleepers.size > 0 && allSleep(participants),
    /** When the first of them must wake. */
    deadlineMs: () =>
      sleepers.size === 0 ? undefined : Math.min(...[...sleepers].map(({ latestMs }) => latestMs)),
    /** The latest wake-up to which time can advance at once from `nowMs` without anyone oversleeping. */
    nextStopMs: (nowMs: number) => {
      const boundMs = Math.min(...[...sleepers].map(({ latestMs }) => latestMs));
      const wakeUps = [...sleepers].map(({ wakeAtMs }) => wakeAtMs);
      const stopMs = Math.max(...wakeUps.filter((atMs) => atMs <= boundMs));
      return stopMs > nowMs ? stopMs : boundMs;
    },
    add: (sleeper: Sleeper): void => {
      sleepers.add(sleeper);
      sleeper.owner.sleepers += 1;
      changed();
    },
    /** Wakes a sleeper early, unless it is awake. */
    wakeEarly: (sleeper: Sleeper): void => {
      if (!sleepers.has(sleeper)) return;
      remove(sleeper);
      changed();
      sleeper.wake({ earliestMs: sleeper.wakeAtMs, latestMs: sleeper.wakeAtMs });
    },
    wakeDue: (now: TimeInterval, isFlowing: boolean): void => {
      for (const sleeper of dueAmong([...sleepers], now.earliestMs, isFlowing)) {
        remove(sleeper);
        sleeper.wake(now);
      }
      changed();
    },
    /** Ends these sleeps with an error. */
    fail: (whom: (sleeper: Sleeper) => boolean, reason: () => unknown): void => {
      const ended = [...sleepers].filter(whom);
      if (ended.length === 0) return;
      for (const sleeper of ended) {
        remove(sleeper);
        sleeper.fail(reason());
      }
      changed();
    },
  };
};

export type Sleepers = ReturnType<typeof createSleepers>;

/** Longer than any intended lifetime. A service that states more has its unit wrong, and no clock can be moved that far. */
const LONGEST_SLEEP_MS = 80 * 365 * 86_400_000;

export const canWait = (durationMs: number): boolean => durationMs <= LONGEST_SLEEP_MS;

/** The shared state of all participants in a virtual clock. */
export interface SharedClock {
  readonly canWait: (durationMs: number) => boolean;
  readonly distrusted: () => string | undefined;
  readonly isReckoned: boolean;
  readonly signal: AbortSignal | undefined;
  readonly read: () => Promise<TimeInterval>;
  readonly sleepers: Sleepers;
  /** Whether time has been seen to run by itself. */
  readonly isFlowing: () => boolean;
  /** Whether time has been seen to stand still, and never to run by itself. */
  readonly isStill: () => boolean;
  /** The number of the next free moment of a second, by second. */
  readonly begun: Map<number, number>;
  /** Someone went to sleep or left, so time may be able to move on. */
  readonly move: () => void;
}

export const joinedClock = (
  shared: SharedClock,
  company: Set<Participant>,
  begins?: Promise<unknown>,
): JoinedClock => {
  const { read, sleepers, move, isReckoned } = shared;
  const self: Participant = { sleepers: 0, branches: new Set() };
  company.add(self);
  if (begins !== undefined) {
    self.sleepers = 1;
    void begins.then(() => (self.sleepers -= 1));
    move();
  }
  const wakeAt = (wakeAtMs: number, slackMs = 0, early?: AbortSignal): Promise<TimeInterval> =>
    sleepAs(shared, self, company, { wakeAtMs, latestMs: wakeAtMs + slackMs }, early);
  const base = ({ earliestMs, latestMs }: TimeInterval): number => (isReckoned ? earliestMs : latestMs);
  const sleepFor = async (durationMs: number, slackMs = 0, early?: AbortSignal): Promise<void> => {
    if (!canWait(durationMs))
      throw new ControlFailed(`a wait of ${duration(durationMs)} is longer than any clock is moved`);
    await wakeAt(base(await read()) + durationMs, slackMs, early);
  };
  return {
    kind: "virtual",
    isTold: !isReckoned,
    isMovedOnly: () => !isReckoned && shared.isStill(),
    runs: () => isReckoned || shared.isFlowing(),
    now: read,
    canWait: shared.canWait,
    canWaitAsAsked: canWait,
    distrusted: shared.distrusted,
    sleep: (durationMs, slackMs) => sleepFor(durationMs, slackMs),
    sleepAsAsked: (durationMs) => sleepFor(durationMs),
    sleepOnEither: (durationMs) => sleepOnEither(durationMs, (signal) => sleepFor(durationMs, 0, signal)),
    sleepUntil: (momentMs, slackMs, flowingSlackMs = slackMs) =>
      wakeAt(momentMs, shared.isFlowing() ? flowingSlackMs : slackMs),
    beginSecond: async (withinMs = Infinity, isShared = false) => {
      const nowMs = base(await read());
      const secondMs = nextSecondMs(shared, nowMs, isShared, withinMs);
      if (secondMs > nowMs) await wakeAt(secondMs);
    },
    branch: (begins) => joinedClock(shared, self.branches, begins),
    leave: () => {
      company.delete(self);
      // What a rule left behind must not continue in its name.
      if (self.sleepers > 0 || self.branches.size > 0)
        sleepers.fail(
          ({ owner }) => owner === self || self.branches.has(owner),
          () => new SleepEnded("its rule is over"),
        );
      self.branches.clear();
      move();
    },
  };
};

/** Ends with this sleep, or once as much of this machine's time has passed. */
const sleepOnEither = async (
  durationMs: number,
  sleep: (over: AbortSignal) => Promise<void>,
): Promise<void> => {
  const over = new AbortController();
  try {
    await Promise.race([
      sleep(over.signal),
      pause(Math.min(durationMs, LONGEST_TIMER_MS), over.signal).catch(() => undefined),
    ]);
  } finally {
    over.abort();
  }
};

const sleepAs = async (
  { signal, sleepers, move }: SharedClock,
  owner: Participant,
  company: ReadonlySet<Participant>,
  moments: Pick<Sleeper, "wakeAtMs" | "latestMs">,
  early: AbortSignal | undefined,
): Promise<TimeInterval> => {
  if (signal?.aborted === true) throw new SleepEnded("interrupted");
  if (!company.has(owner)) throw new SleepEnded("its rule is over");
  return new Promise<TimeInterval>((wake, fail) => {
    const sleeper: Sleeper = { ...moments, owner, wake, fail };
    sleepers.add(sleeper);
    early?.addEventListener("abort", () => sleepers.wakeEarly(sleeper));
    move();
  });
};

/** If time runs by itself, this many may begin in one second, shortly after one another. */
const A_SECOND = 25;
const SPACING_MS = 16;

/** The next moment at the start of a second that is after those of single participants. */
const sharedMs = (nowMs: number): number =>
  Math.ceil(nowMs / SECOND_MS - (A_SECOND * SPACING_MS) / SECOND_MS) * SECOND_MS + A_SECOND * SPACING_MS;

/** The next whole second or, if time runs by itself, the next moment at the start of one that no other participant gets. */
const nextSecondMs = (
  { isFlowing, begun }: SharedClock,
  nowMs: number,
  isShared: boolean,
  withinMs: number,
): number => {
  if (!isFlowing()) return Math.ceil(nowMs / SECOND_MS) * SECOND_MS;
  if (isShared) return sharedMs(nowMs);
  let secondMs = Math.floor(nowMs / SECOND_MS) * SECOND_MS;
  const freeIn = (ofMs: number): number =>
    Math.max(begun.get(ofMs) ?? 0, Math.ceil((nowMs - ofMs) / SPACING_MS), 0);
  if (freeIn(secondMs) >= A_SECOND) secondMs += SECOND_MS;
  while (freeIn(secondMs) >= A_SECOND && secondMs + SECOND_MS <= nowMs + withinMs) secondMs += SECOND_MS;
  const free = freeIn(secondMs);
  begun.set(secondMs, free + 1);
  return secondMs + (free % A_SECOND) * SPACING_MS;
};
