import type { TimeInterval } from "../../judging/interval.ts";

/** A sleep that is over before its time, because the run was interrupted or the rule is. */
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
  /** Up to when time may go on before the sleeper wakes. */
  readonly latestMs: number;
  readonly owner: Participant;
  readonly wake: (at: TimeInterval) => void;
  readonly fail: (reason: unknown) => void;
}

/** A participant with cases sleeps while all of them do; one without, while anything of it does. */
const sleeps = ({ sleepers, branches }: Participant): boolean =>
  [...branches].every(sleeps) && (sleepers > 0 || branches.size > 0);

/** Who takes part in a clock, and who of them sleeps. `changed` is called whenever sleepers came or went. */
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
    /** The latest wake-up to which time can go on at once without anyone oversleeping. */
    nextStopMs: () => {
      const boundMs = Math.min(...[...sleepers].map(({ latestMs }) => latestMs));
      return Math.max(...[...sleepers].map(({ wakeAtMs }) => wakeAtMs).filter((atMs) => atMs <= boundMs));
    },
    add: (sleeper: Sleeper): void => {
      sleepers.add(sleeper);
      sleeper.owner.sleepers += 1;
      changed();
    },
    /** Wakes one before its time, unless it is awake. */
    wakeEarly: (sleeper: Sleeper): void => {
      if (!sleepers.has(sleeper)) return;
      remove(sleeper);
      changed();
      sleeper.wake({ earliestMs: sleeper.wakeAtMs, latestMs: sleeper.wakeAtMs });
    },
    /** However late the clock was read, sleepers wake in the order of their moments. */
    wakeDue: (now: TimeInterval): void => {
      const due = [...sleepers].filter(({ wakeAtMs }) => wakeAtMs <= now.earliestMs);
      for (const sleeper of due.toSorted((a, b) => a.wakeAtMs - b.wakeAtMs)) {
        remove(sleeper);
        sleeper.wake(now);
      }
      changed();
    },
    /** Makes these sleeps end with an error. */
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
