import type { ServiceClock } from "./clock.ts";

/**
 * A step of the service that takes real time, such as a database's, once its table has grown: the
 * first `quickAtFirst` requests pass it at once. It knows how many requests are in it.
 */
export interface SlowStep {
  readonly inside: () => number;
  readonly pass: (clock: ServiceClock) => Promise<void>;
}

export const slowStep = (takesMs: number, quickAtFirst: number): SlowStep => {
  let inside = 0;
  let passed = 0;
  return {
    inside: () => inside,
    pass: async (clock) => {
      passed += 1;
      if (passed <= quickAtFirst) return;
      inside += 1;
      await clock.pause(takesMs);
      inside -= 1;
    },
  };
};

/** So many connections to a database: a request that finds none free waits for one, first come, first served. */
export interface Pool {
  /** undefined when there was a free one at once. */
  readonly take: () => Promise<void> | undefined;
  readonly giveBack: () => void;
}

export const pool = (size: number): Pool => {
  const waiting: (() => void)[] = [];
  let free = size;
  return {
    take: () => {
      if (free > 0) {
        free -= 1;
        return undefined;
      }
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
    giveBack: () => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
};

/** Drops the records that were issued first, so that no more than `size` are left. */
export const keepLatest = (records: Map<string, unknown>, size: number): void => {
  for (const key of records.keys()) {
    if (records.size <= size) return;
    records.delete(key);
  }
};
