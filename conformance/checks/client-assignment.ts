/** Whose case it is: 0 the first client's, 1 the second's. */
export type ClientIndex = 0 | 1;

/**
 * Deals places of a list out to two clients in the order of Thue and Morse (by how many ones the place has in binary):
 * lists that repeat themselves after 2, 4 or 8 values do not fall in step with it. Another seed may begin with the
 * other client, so that several runs come to every pair.
 */
export const assignedClient = (place: number, seed: number): ClientIndex => {
  let ones = seed & 1;
  for (let rest = place; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return (ones % 2) as ClientIndex;
};

/** Each value twice, so that both clients get it: of two places from an even one on each gets one. Such a list comes first in its part. */
export const forBoth = <T>(values: readonly T[]): readonly T[] => values.flatMap((value) => [value, value]);
