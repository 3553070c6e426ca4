import { bitsToGuess } from "./token-entropy.ts";

/**
 * How hard values of one kind are to guess, judged by many of them in order of issue: bits, the length of their shared
 * prefix, and whether each follows its predecessor in counter order.
 */
export const guessability = (values: readonly string[]) => {
  const [first = "", ...others] = values;
  let sharedPrefix = 0;
  while (
    sharedPrefix < first.length &&
    others.every((value) => value.startsWith(first.slice(0, sharedPrefix + 1)))
  )
    sharedPrefix += 1;
  return { bits: bitsToGuess(values), sharedPrefix, monotone: isMonotone(values) };
};

const isMonotone = (values: readonly string[]): boolean => {
  const steps = values.slice(1).map((value, index) => compare(values[index] ?? "", value));
  return steps.length > 4 && (steps.every((step) => step < 0) || steps.every((step) => step > 0));
};

/** Shorter before longer, so that counters are in order whether padded or not. */
const compare = (a: string, b: string): number =>
  a.length === b.length ? (a < b ? -1 : a > b ? 1 : 0) : a.length - b.length;
