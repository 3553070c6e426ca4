import type { Random } from "./random.ts";
import { histogramUnit, type Latencies } from "./load-record.ts";

/** Distinct values in ascending order with their counts, as a histogram keeps them. */
export interface Counted {
  readonly values: Float64Array;
  readonly counts: Float64Array;
  readonly total: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The needed part of an HDR histogram, as in hdr-histogram-js. */
interface Histogram {
  readonly totalCount: number;
  readonly mean: number;
  readonly minNonZeroValue: number;
  readonly maxValue: number;
  getValueAtPercentile(percentile: number): number;
  countsArrayIndex(value: number): number;
  getCountAtIndex(index: number): number;
  valueFromIndex(index: number): number;
  highestEquivalentValue(value: number): number;
}

/** The counts of an HDR histogram: each value is the highest of its bucket, divided by `unit`. */
export const countedOf = (histogram: Histogram, unit = 1): Counted => {
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

/** The value of this rank, counted from 1 in ascending order. NaN if there are none. */
export const valueOfRank = ({ values, counts }: Pick<Counted, "values" | "counts">, rank: number): number => {
  let reached = 0;
  for (let at = 0; at < values.length; at += 1) {
    reached += counts[at] ?? 0;
    if (reached >= rank) return values[at] ?? NaN;
  }
  return values.at(-1) ?? NaN;
};

/** The smallest value that at least this share of all values does not exceed. NaN if there are none. */
export const quantileOf = (counted: Counted, share: number): number =>
  valueOfRank(counted, rankOf(share, counted.total));

/** The rank of a quantile, safe from rounding errors such as 0.07 times 100 exceeding 7. */
const rankOf = (share: number, total: number): number =>
  Math.min(total, Math.max(1, Math.ceil(share * total - 1e-9)));

/** Merges distributions, adding the counts of equal values. */
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

const RESAMPLES = 400;

/**
 * Intervals of quantiles by the bootstrap over non-overlapping blocks of time (Carlstein 1986). Requests of one moment
 * share their fate, so blocks are drawn, never single requests.
 */
export const drawnIntervals = (
  blocks: readonly Counted[],
  shares: readonly number[],
  confidence: number,
  random: Random,
): readonly Interval[] => {
  const { values } = mergeCounted(blocks);
  const cumulated = blocks.map((block) => cumulatedOn(block, values));
  const drawn = shares.map(() => new Float64Array(RESAMPLES));
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    const some = blocks.map(() => cumulated[Math.floor(random() * blocks.length)] ?? new Float64Array());
    for (const [at, share] of shares.entries())
      drawn[at]?.fill(drawnQuantile(some, values, share), resample, resample + 1);
  }
  const tail = (1 - confidence) / 2;
  return drawn.map((unsorted) => {
    const sorted = unsorted.toSorted();
    const pick = (part: number): number =>
      sorted[Math.min(RESAMPLES - 1, Math.floor(part * RESAMPLES))] ?? NaN;
    return { low: pick(tail), high: pick(1 - tail) };
  });
};

/** How many values of a block are at most each value of the grid. */
const cumulatedOn = ({ values, counts }: Counted, grid: Float64Array): Float64Array => {
  let [at, reached] = [0, 0];
  return grid.map((value) => {
    while (at < values.length && (values[at] ?? 0) <= value) {
      reached += counts[at] ?? 0;
      at += 1;
    }
    return reached;
  });
};

/** A quantile of the drawn blocks together, by bisection over the values, without building their distribution. */
const drawnQuantile = (blocks: readonly Float64Array[], grid: Float64Array, share: number): number => {
  const reached = (place: number): number => blocks.reduce((sum, block) => sum + (block[place] ?? 0), 0);
  const rank = Math.max(1, Math.ceil(share * reached(grid.length - 1) - 1e-9));
  let [low, high] = [-1, grid.length - 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (reached(middle) >= rank) high = middle;
    else low = middle;
  }
  return grid[high] ?? NaN;
};

/** Summarizes a histogram of microseconds in milliseconds; all 0 if it is empty. */
export const latenciesOf = (histogram: Histogram): Latencies => {
  const isEmpty = histogram.totalCount === 0;
  const inMs = (value: number): number => (isEmpty ? 0 : value / histogramUnit.perMs);
  const at = (percentile: number): number => inMs(histogram.getValueAtPercentile(percentile));
  return {
    count: histogram.totalCount,
    minMs: inMs(Math.min(histogram.minNonZeroValue, histogram.maxValue)),
    meanMs: inMs(histogram.mean),
    p50Ms: at(50),
    p90Ms: at(90),
    p95Ms: at(95),
    p99Ms: at(99),
    p999Ms: at(99.9),
    // The highest value of its cell, as for percentiles, so that none exceeds it.
    maxMs: inMs(histogram.highestEquivalentValue(histogram.maxValue)),
  };
};
