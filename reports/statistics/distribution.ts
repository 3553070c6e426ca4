import { binomialCdf } from "./distributions.ts";
import type { Interval } from "./sample.ts";

/** Values in ascending order with how often each came: a distribution as a histogram keeps it. */
export interface Counted {
  readonly values: Float64Array;
  readonly counts: Float64Array;
  readonly total: number;
}

/** What is needed of an HDR histogram to read its counts; hdr-histogram-js has it. */
export interface HdrCounts {
  readonly totalCount: number;
  readonly maxValue: number;
  countsArrayIndex(value: number): number;
  getCountAtIndex(index: number): number;
  valueFromIndex(index: number): number;
  highestEquivalentValue(value: number): number;
}

/** The counts of an HDR histogram: each value is the greatest that its bucket stands for, divided by `unit`. */
export const countedOf = (histogram: HdrCounts, unit = 1): Counted => {
  const values: number[] = [];
  const counts: number[] = [];
  const last = histogram.totalCount === 0 ? -1 : histogram.countsArrayIndex(histogram.maxValue);
  for (let index = 0; index <= last; index += 1) {
    const count = histogram.getCountAtIndex(index);
    if (count === 0) continue;
    values.push(histogram.highestEquivalentValue(histogram.valueFromIndex(index)) / unit);
    counts.push(count);
  }
  return {
    values: Float64Array.from(values),
    counts: Float64Array.from(counts),
    total: histogram.totalCount,
  };
};

/** The value of this rank, counted from 1 in ascending order. NaN where there are none. */
const valueOfRank = ({ values, counts }: Pick<Counted, "values" | "counts">, rank: number): number => {
  let reached = 0;
  for (let at = 0; at < values.length; at += 1) {
    reached += counts[at] ?? 0;
    if (reached >= rank) return values[at] ?? NaN;
  }
  return values.at(-1) ?? NaN;
};

/** The smallest value that at least this share of all does not exceed. NaN where there are none. */
export const quantileOf = (counted: Counted, share: number): number =>
  valueOfRank(counted, rankOf(share, counted.total));

/** The rank of a quantile; a share such as 0.07 times 100 must not come to one more by a rounding error. */
const rankOf = (share: number, total: number): number =>
  Math.min(total, Math.max(1, Math.ceil(share * total - 1e-9)));

/**
 * An interval of a quantile from order statistics: whatever the distribution, the number of values below
 * the true quantile is binomial (Hahn and Meeker, section 5.2). It holds for values that do not depend
 * on one another, which requests of one second are not: use it only where there are no blocks to draw.
 * An end is infinite (or 0 at the low end) where so few values cannot bound it.
 */
export const orderStatisticInterval = (counted: Counted, share: number, confidence: number): Interval => {
  const tail = (1 - confidence) / 2;
  const low = binomialQuantile(tail, counted.total, share);
  const high = binomialQuantile(1 - tail, counted.total, share) + 1;
  return {
    low: low < 1 ? 0 : valueOfRank(counted, low),
    high: high > counted.total ? Infinity : valueOfRank(counted, high),
  };
};

/** The smallest number of successes whose cumulated probability reaches this one. */
const binomialQuantile = (probability: number, trials: number, share: number): number => {
  let [low, high] = [-1, trials];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (binomialCdf(middle, trials, share) >= probability) high = middle;
    else low = middle;
  }
  return high;
};

/** One distribution of several: equal values are counted together. */
export const mergeCounted = (parts: readonly Counted[]): Counted => {
  const sums = new Map<number, number>();
  for (const { values, counts } of parts)
    for (let at = 0; at < values.length; at += 1)
      sums.set(values[at] ?? 0, (sums.get(values[at] ?? 0) ?? 0) + (counts[at] ?? 0));
  const merged = [...sums].toSorted(([a], [b]) => a - b);
  return {
    values: Float64Array.from(merged, ([value]) => value),
    counts: Float64Array.from(merged, ([, count]) => count),
    total: parts.reduce((sum, { total }) => sum + total, 0),
  };
};
