import type { TimeInterval } from "../../judging/interval.ts";

/** A sleep that ended early, because the run was interrupted or its rule is over. */
export class SleepEnded extends Error {
  constructor(reason: string) {
    super(`a sleep was ended: ${reason}`);
    this.name = "SleepEnded";
  }
}

/** A rule, the push run, or one case of a rule. */
export interface Participant {
  sleepers: number;
  readonly branches: Set<Participant>;
}

export interface Sleeper {
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
