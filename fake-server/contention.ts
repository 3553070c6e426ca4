import type { ServiceClock } from "./clock.ts";

/**
 * A step that takes real time once its table has grown, such as a database's: the first `quickAtFirst` requests pass
 * immediately. It knows how many requests are in it.
 */
export const slowStep = (takesMs: number, quickAtFirst: number) => {
  let inside = 0;
  let passed = 0;
  return {
    inside: (): number => inside,
    pass: async (clock: ServiceClock): Promise<void> => {
      passed += 1;
      if (passed <= quickAtFirst) return;
      inside += 1;
      await clock.pause(takesMs);
      inside -= 1;
    },
  };
};

/** A connection pool: a request without a free connection waits, first come, first served. */
export const pool = (size: number) => {
  const waiting: (() => void)[] = [];
  let free = size;
  return {
    /** undefined if a connection was free immediately. */
    take: (): Promise<void> | undefined => {
      if (free > 0) {
        free -= 1;
        return undefined;
      }
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
    giveBack: (): void => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
};

/** Drops the oldest records until at most `size` are left. */
export const keepLatest = (records: Map<string, unknown>, size: number): void => {
  for (const key of records.keys()) {
    if (records.size <= size) return;
    records.delete(key);
  }
};
