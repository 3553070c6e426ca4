/** A sample of many items, with their total, so that omissions are always counted. */
export interface Sampled<T> {
  readonly shown: readonly T[];
  readonly count: number;
}

export const endsOf = <T>(all: readonly T[], first: number, last: number): Sampled<T> => ({
  shown: all.length <= first + last ? all : [...all.slice(0, first), ...all.slice(-last)],
  count: all.length,
});

/** Keeps the first and the last items of a stream, in bounded memory. */
export const sampler = <T>(first: number, last: number) => {
  const head: T[] = [];
  let tail: T[] = [];
  let count = 0;
  return {
    add: (item: T): void => {
      count += 1;
      if (head.length < first) {
        head.push(item);
        return;
      }
      if (tail.length >= last) tail = tail.slice(1);
      if (last > 0) tail.push(item);
    },
    sampled: (): Sampled<T> => ({ shown: [...head, ...tail], count }),
  };
};
