/** The client of a case: 0 the first, 1 the second. */
export type ClientIndex = 0 | 1;

/**
 * Assigns the places of a list to two clients by the Thue-Morse sequence (the parity of a place's binary ones), so that
 * lists that repeat after 2, 4 or 8 values do not fall into step with it. Another seed may start with the other client,
 * so that several runs cover every pair.
 */
export const assignedClient = (place: number, seed: number): ClientIndex => {
  let ones = seed & 1;
  for (let rest = place; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return (ones % 2) as ClientIndex;
};

/**
 * Each value twice, so that both clients get it: of an even place and the next, each client gets one. Must come first
 * in its part.
 */
export const forBoth = <T>(values: readonly T[]): readonly T[] => values.flatMap((value) => [value, value]);
