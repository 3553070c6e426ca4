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
  [...branches].every(sleeps) && (sleepers > 0 || branches.size > 0);

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
    allSleep: () => participants.size > 0 && sleepers.size > 0 && [...participants].every(sleeps),
    earliestWakeMs: () =>
      sleepers.size === 0 ? undefined : Math.min(...[...sleepers].map(({ wakeAtMs }) => wakeAtMs)),
    /** The latest wake-up to which time can advance at once without anyone oversleeping. */
    nextStopMs: () => {
      const boundMs = Math.min(...[...sleepers].map(({ latestMs }) => latestMs));
      return Math.max(...[...sleepers].map(({ wakeAtMs }) => wakeAtMs).filter((atMs) => atMs <= boundMs));
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
    /** Sleepers wake in the order of their moments, however late the clock was read. */
    wakeDue: (now: TimeInterval): void => {
      const due = [...sleepers].filter(({ wakeAtMs }) => wakeAtMs <= now.earliestMs);
      for (const sleeper of due.toSorted((a, b) => a.wakeAtMs - b.wakeAtMs)) {
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
