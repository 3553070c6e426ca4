/** How hard values of one kind are to guess, as far as many of them in order of issue show. */
export interface Guessability {
  /** Sum over the positions that vary of log2 of the symbols that occur there. */
  readonly bits: number;
  readonly symbols: number;
  readonly shortest: number;
  /** What all values begin with. */
  readonly sharedPrefix: number;
  readonly monotone: boolean;
}

/**
 * Estimates from a sample. A position at which few symbols occur, compared with the size
 * of the sample, counts as having those only; the others share one alphabet, as a sample
 * shows but a part of it at each of them. Positions that never vary count nothing.
 */
export const guessability = (values: readonly string[]): Guessability => {
  const shortest = Math.min(...values.map((value) => value.length));
  const positions = Array.from(
    { length: shortest },
    (_, at) => new Set(values.map((value) => value.charAt(at))),
  );
  const isPoor = (symbols: ReadonlySet<string>): boolean => symbols.size <= values.length / 8;
  const alphabet = new Set(
    positions.filter((symbols) => !isPoor(symbols)).flatMap((symbols) => [...symbols]),
  );
  const bits = positions.reduce(
    (sum, symbols) => sum + Math.log2(isPoor(symbols) ? symbols.size : alphabet.size),
    0,
  );
  const firstVarying = positions.findIndex((symbols) => symbols.size > 1);
  return {
    bits: Math.round(bits),
    symbols: alphabet.size,
    shortest,
    sharedPrefix: firstVarying < 0 ? shortest : firstVarying,
    monotone: isMonotone(values),
  };
};

const isMonotone = (values: readonly string[]): boolean => {
  const steps = values.slice(1).map((value, index) => compare(values[index] ?? "", value));
  return steps.length > 4 && (steps.every((step) => step < 0) || steps.every((step) => step > 0));
};

/** Shorter before longer, so that counters are in order whether they are padded or not. */
const compare = (a: string, b: string): number =>
  a.length === b.length ? (a < b ? -1 : a > b ? 1 : 0) : a.length - b.length;
