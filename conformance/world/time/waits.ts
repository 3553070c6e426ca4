import type { TimeInterval } from "../../judging/interval.ts";
import { createMover, type MoverOptions, type Waiter } from "./mover.ts";

/** A sleep that ended early, because the run was interrupted or its rule is over. */
export class SleepEnded extends Error {
  constructor(reason: string) {
    super(`a sleep was ended: ${reason}`);
    this.name = "SleepEnded";
  }
}

/** Somebody who may wait: one case, or whoever plays cases. */
export interface Member {
  /** Waits until a moment, or up to `slackMs` longer; returns the time then. */
  readonly waitUntil: (momentMs: number, slackMs?: number, early?: AbortSignal) => Promise<TimeInterval>;
  readonly company: Company;
  readonly leave: () => void;
}
export interface Company {
  /** Time stands still while a counted member does not wait. */
  readonly join: (isCounted: boolean) => Member;
}

interface State {
  readonly waiters: Set<Waiter>;
  /** How many cases are doing something. */
  awake: number;
  readonly signal: AbortSignal | undefined;
  readonly pump: () => void;
}

const failAll = (waiters: Iterable<Waiter>, reason: () => unknown): void => {
  for (const waiter of waiters) waiter.fail(reason());
};

/** Who waits for which moment of a moved clock, and what moves it there. */
export const createWaits = (time: MoverOptions) => {
  const waiters = new Set<Waiter>();
  const mover = createMover(
    time,
    waiters,
    () => state.awake,
    () => state.pump(),
  );
  const state: State = {
    waiters,
    awake: 0,
    signal: time.signal,
    pump: () => void mover.pump().catch((error: unknown) => failAll(waiters, () => error)),
  };
  const interrupted = (): void => failAll(waiters, () => new SleepEnded("interrupted"));
  time.signal?.addEventListener("abort", interrupted, { once: true });
  const company: Company = { join: (isCounted) => join(state, isCounted) };
  return { company, count: () => waiters.size, movingForMs: mover.movingForMs };
};

const join = (state: State, isCounted: boolean): Member => {
  const { waiters, signal, pump } = state;
  const own = new Set<Waiter>();
  const branches = new Set<() => void>();
  let isOver = false;
  /** Counts the member as awake or not; only while it waits for nothing does that change. */
  const count = (by: 1 | -1): void => void (state.awake += isCounted && own.size === 0 && !isOver ? by : 0);
  count(1);
  const waitUntil = async (fromMs: number, slackMs = 0, early?: AbortSignal): Promise<TimeInterval> => {
    if (signal?.aborted === true) throw new SleepEnded("interrupted");
    if (isOver) throw new SleepEnded("its rule is over");
    return new Promise((resolve, reject) => {
      count(-1);
      const end = (settle: () => void): void => {
        if (!own.delete(waiter)) return;
        waiters.delete(waiter);
        count(1);
        settle();
        pump();
      };
      const waiter: Waiter = {
        fromMs,
        untilMs: fromMs + slackMs,
        wake: (at) => end(() => resolve(at)),
        fail: (reason) => end(() => reject(reason)),
      };
      own.add(waiter);
      waiters.add(waiter);
      early?.addEventListener("abort", () => waiter.wake({ earliestMs: fromMs, latestMs: fromMs }));
      pump();
    });
  };
  const leave = (): void => {
    count(-1);
    isOver = true;
    for (const leaveBranch of branches) leaveBranch();
    // What a rule left behind must not continue in its name.
    failAll(own, () => new SleepEnded("its rule is over"));
    pump();
  };
  const company: Company = {
    join: (isBranchCounted) => {
      const branch = join(state, isBranchCounted);
      branches.add(branch.leave);
      return branch;
    },
  };
  return { waitUntil, leave, company };
};
