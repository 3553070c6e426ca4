import { bestSplit, type Split } from "./energy.ts";
import { median } from "./sample.ts";
import type { Random } from "../../conformance/contract/random.ts";

export interface ChangePoint {
  /** Index of the first value after the change. */
  readonly at: number;
  /** p value of the permutation test that found it. */
  readonly p: number;
  /** Medians of the stretches just before and after, up to the neighbouring changes. */
  readonly before: number;
  readonly after: number;
}

export interface ChangePointOptions {
  readonly random: Random;
  /** Probability of a false change point in an unchanged series. */
  readonly alpha: number;
  readonly permutations: number;
  /** Minimum number of values between two changes. */
  readonly leastStretch: number;
}

export const usualChangePoints = { alpha: 0.01, permutations: 199, leastStretch: 4 } as const;

/**
 * The fewest values in which a change can be found. However clear a change is, reorderings that bring the same values
 * to either end split as well: two of all ways to choose one side, of which there are most at the middle.
 */
export const fewestValues = ({
  alpha,
  leastStretch,
}: Pick<ChangePointOptions, "alpha" | "leastStretch">): number => {
  let count = 2 * leastStretch;
  while (2 / waysToChoose(count, Math.floor(count / 2)) > alpha) count += 1;
  return count;
};

const waysToChoose = (count: number, of: number): number =>
  Array.from({ length: of }).reduce<number>((ways, _, at) => (ways * (count - at)) / (at + 1), 1);

/**
 * Change points by hierarchical E-divisive estimation (Matteson and James 2014), without distributional assumptions:
 * the best split of any stretch is tested against random permutations within all stretches, and kept while significant.
 * In series order.
 */
export const changePoints = (
  series: readonly number[],
  options: ChangePointOptions,
): readonly ChangePoint[] => {
  if (series.length < fewestValues(options)) return [];
  const values = Float64Array.from(series);
  let bounds = [0, values.length];
  const found = new Map<number, number>();
  for (;;) {
    const best = bestOf(values, bounds, options.leastStretch);
    if (best === undefined) break;
    const p = permutationP(values, bounds, best.statistic, options);
    if (p > options.alpha) break;
    found.set(best.at, p);
    bounds = [...bounds, best.at].toSorted((a, b) => a - b);
  }
  const between = (at: number, to: number): number => median(series.slice(bounds[at], bounds[to]));
  return bounds.slice(1, -1).map((at, place) => ({
    at,
    p: found.get(at) ?? 1,
    before: between(place, place + 1),
    after: between(place + 1, place + 2),
  }));
};

const bestOf = (values: Float64Array, bounds: readonly number[], leastStretch: number): Split | undefined => {
  let best: Split | undefined;
  for (const [place, start] of bounds.slice(0, -1).entries()) {
    const split = bestSplit(values.subarray(start, bounds[place + 1]), leastStretch);
    if (split !== undefined && (best === undefined || split.statistic > best.statistic))
      best = { at: start + split.at, statistic: split.statistic };
  }
  return best;
};

/**
 * The share of permutations that split at least as well, counting the given order as one (Phipson and Smyth 2010).
 * Stops early once it cannot be significant; the result is then a p value of the permutations so far.
 */
const permutationP = (
  values: Float64Array,
  bounds: readonly number[],
  statistic: number,
  { random, alpha, permutations, leastStretch }: ChangePointOptions,
): number => {
  const shuffled = Float64Array.from(values);
  const most = alpha * (permutations + 1) - 1;
  let asGood = 0;
  for (let done = 1; done <= permutations; done += 1) {
    for (const [place, start] of bounds.slice(0, -1).entries())
      shuffle(shuffled, start, bounds[place + 1] ?? start, random);
    if ((bestOf(shuffled, bounds, leastStretch)?.statistic ?? -Infinity) >= statistic - ROUNDING) asGood += 1;
    if (asGood > most) return (asGood + 1) / (done + 1);
  }
  return (asGood + 1) / (permutations + 1);
};

/** Sums in a different order differ in their last digits. */
const ROUNDING = 1e-12;

/** Puts the values from `start` to before `end` into random order, in place (Fisher and Yates). */
const shuffle = (values: Float64Array, start: number, end: number, random: Random): void => {
  for (let at = end - 1; at > start; at -= 1) {
    const other = start + Math.floor(random() * (at - start + 1));
    const held = values[at] ?? 0;
    values[at] = values[other] ?? 0;
    values[other] = held;
  }
};
