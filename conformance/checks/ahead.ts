import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";

/** Results of a property's cases that are computed a few at a time, before fast-check asks for them one by one. */
export interface Ahead<T, R> {
  /** The result for fast-check's next value; also starts work on the following ones. */
  next(value: T): Promise<R>;
  /** Starts nothing more; returns once all running work has ended. */
  stop(): Promise<void>;
}

/**
 * Judges the values that fast-check is about to generate concurrently: a distant target takes long for each request,
 * and cases that wait on the clock can wait together. A value that was not foreseen (because the property rejects some)
 * is judged when it comes.
 */
export const workAhead = <T, R>(
  foreseen: readonly T[],
  atATime: number,
  judge: (value: T, index: number) => Promise<R>,
): Ahead<T, R> => {
  const begun: Promise<R>[] = [];
  let asked = 0;
  const begin = (value: T): void => {
    const work = judge(value, begun.length);
    // The error is thrown to the caller that asks for the result; otherwise it is dropped.
    work.catch(() => undefined);
    begun.push(work);
  };
  return {
    next: (value) => {
      const index = asked;
      asked += 1;
      while (begun.length < Math.min(foreseen.length, index + atATime)) begin(foreseen[begun.length] as T);
      const work = begun[index];
      return work !== undefined && isSame(foreseen[index], value) ? work : judge(value, index);
    },
    stop: async () => {
      await Promise.allSettled(begun);
    },
  };
};

/** Whether both would be printed alike. As text they are compared only if need be: what contains functions is never equal. */
const isSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(one, other) || fc.stringify(one) === fc.stringify(other);
