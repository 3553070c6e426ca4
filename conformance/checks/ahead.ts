import fc from "fast-check";

/** Results of a property's cases that are worked out a few at a time, before fast-check asks for them one by one. */
export interface Ahead<T, R> {
  /** The result for fast-check's next value, and has the work on those after it begun. */
  next(value: T): Promise<R>;
  /** Begins nothing more; returns once all that is under way has ended. */
  stop(): Promise<void>;
}

/**
 * Judges the values that fast-check is about to generate side by side: a target that is far away takes its time over
 * each request, and cases that wait on the clock can wait together. A value that is not the one foreseen (a property
 * that turns some down) is judged when it comes.
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
    // The error is thrown to the caller that asks for the result; without one it is dropped.
    work.catch(() => undefined);
    begun.push(work);
  };
  return {
    next: (value) => {
      const index = asked;
      asked += 1;
      while (begun.length < Math.min(foreseen.length, index + atATime)) begin(foreseen[begun.length] as T);
      const work = begun[index];
      return work !== undefined && fc.stringify(foreseen[index]) === fc.stringify(value)
        ? work
        : judge(value, index);
    },
    stop: async () => {
      await Promise.allSettled(begun);
    },
  };
};
