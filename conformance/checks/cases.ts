import { duration } from "../contract/duration.ts";
import { inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { monotonicMs, type JoinedClock } from "../world/clock.ts";

/** Limits concurrency; places are given in order of waiting. */
export type Places = ReturnType<typeof createPlaces>;

export const createPlaces = (count: number) => {
  const waiting: (() => void)[] = [];
  let free = count;
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    /** Resolves once a place is free, with a function that returns it; extra calls of that do nothing. */
    take: async (): Promise<() => void> => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let isTaken = true;
      return () => {
        if (isTaken) giveBack();
        isTaken = false;
      };
    },
  };
};

const watchWaking = (own: JoinedClock, onSleep: () => void) => {
  let sleeping = 0;
  let asleepMs = 0;
  let asleepSinceMs = 0;
  let turnedAway = 0;
  let turnedAwayMs = 0;
  let turnedAwaySinceMs = 0;
  const startMs = monotonicMs();
  const counted = async <T>(sleep: () => Promise<T>): Promise<T> => {
    if (sleeping === 0) asleepSinceMs = monotonicMs();
    sleeping += 1;
    try {
      return await sleep();
    } finally {
      sleeping -= 1;
      if (sleeping === 0) asleepMs += monotonicMs() - asleepSinceMs;
    }
  };
  const chosen = <T>(sleep: () => Promise<T>): Promise<T> => {
    onSleep();
    return counted(sleep);
  };
  const nowMs = async (): Promise<number> => (await own.now()).earliestMs;
  const asAsked = async (sleep: () => Promise<void>): Promise<void> => {
    turnedAway += 1;
    try {
      if (turnedAway === 1) turnedAwaySinceMs = await nowMs();
      await counted(sleep);
      if (turnedAway > 1) return;
      // Another request may be turned away while the clock is read.
      const endMs = await nowMs();
      turnedAwayMs += endMs - turnedAwaySinceMs;
      turnedAwaySinceMs = endMs;
    } finally {
      turnedAway -= 1;
    }
  };
  const clock: JoinedClock = {
    ...own,
    sleep: (...wait) => chosen(() => own.sleep(...wait)),
    sleepAsAsked: (...wait) => asAsked(() => own.sleepAsAsked(...wait)),
    sleepUntil: (...until) => chosen(() => own.sleepUntil(...until)),
    beginSecond: (...within) => chosen(() => own.beginSecond(...within)),
  };
  return {
    clock,
    /**
     * Time for requests, in milliseconds: real time during which nothing of the case slept, and the target's time during
     * which it made the case wait by turning requests away.
     */
    requestsMs: () => monotonicMs() - startMs - asleepMs + turnedAwayMs,
  };
};

export interface CaseRoom {
  readonly places: Places;
  /** The clock of the rule that the case belongs to. */
  readonly clock: JoinedClock;
  readonly shortestLifetimeMs: number;
}

/** The smallest share of a lifetime that rules leave for requests. */
const PART_FOR_REQUESTS = 1 / 5;

/**
 * Judges one case with its own clock. It starts once it has a place: all cases at once would queue for connections at
 * every request, and what they wait for would age meanwhile. It keeps the place until it ends or first sleeps, other than
 * for a limiter: the next case would only be turned away too. A breach does not count if the requests of the case took
 * so long that its credentials may have expired.
 */
export const judgeCase = async (
  { places, clock, shortestLifetimeMs }: CaseRoom,
  judge: (clock: JoinedClock) => Promise<CaseVerdict>,
): Promise<CaseVerdict> => {
  const giveBack = await places.take();
  const own = clock.branch();
  const waking = watchWaking(own, giveBack);
  try {
    const judgement = await judge(waking.clock);
    const requestsMs = waking.requestsMs();
    return judgement.kind === "failed" && requestsMs > shortestLifetimeMs * PART_FOR_REQUESTS
      ? inconclusive(
          `the machine or the target was too slow: its requests took ${duration(requestsMs)}, so a credential that lives for ${duration(shortestLifetimeMs)} may have expired meanwhile (${judgement.actual})`,
        )
      : judgement;
  } finally {
    giveBack();
    own.leave();
  }
};
