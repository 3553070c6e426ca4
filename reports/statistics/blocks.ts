import { mergeCounted, orderStatisticInterval, quantileOf, type Counted } from "./distribution.ts";
import type { Random } from "./random.ts";
import type { Interval } from "./sample.ts";

export interface QuantileEstimate extends Interval {
  readonly value: number;
  /** Where the interval comes from: `blocks` of time that were resampled, or `requests` as if independent. */
  readonly by: "blocks" | "requests";
}

const RESAMPLES = 400;
/** With fewer blocks, what is drawn repeats itself too much for an interval to mean anything. */
const LEAST_BLOCKS = 8;

/**
 * Quantiles of a run with intervals, by the bootstrap over blocks of time that do not overlap (Carlstein
 * 1986): requests of one moment share their fate, so that the block is what is drawn, never the request.
 * With too few blocks, intervals from order statistics, which are too narrow for requests that depend on
 * one another; `by` tells.
 */
export const quantileEstimates = (
  blocks: readonly Counted[],
  shares: readonly number[],
  confidence: number,
  random: Random,
): readonly QuantileEstimate[] => {
  const filled = blocks.filter(({ total }) => total > 0);
  const all = mergeCounted(filled);
  if (filled.length < LEAST_BLOCKS)
    return shares.map((share) => ({
      value: quantileOf(all, share),
      ...orderStatisticInterval(all, share, confidence),
      by: "requests",
    }));
  const cumulated = filled.map((block) => cumulatedOn(block, all.values));
  const drawn = shares.map(() => new Float64Array(RESAMPLES));
  for (let resample = 0; resample < RESAMPLES; resample += 1) {
    const blocks = drawnBlocks(filled.length, random).map((at) => cumulated[at] ?? new Float64Array());
    for (const [at, share] of shares.entries())
      drawn[at]?.fill(drawnQuantile(blocks, all.values, share), resample, resample + 1);
  }
  const tail = (1 - confidence) / 2;
  return shares.map((share, at) => {
    const sorted = (drawn[at] ?? new Float64Array()).toSorted();
    const pick = (part: number): number =>
      sorted[Math.min(RESAMPLES - 1, Math.floor(part * RESAMPLES))] ?? NaN;
    return { value: quantileOf(all, share), low: pick(tail), high: pick(1 - tail), by: "blocks" };
  });
};

/** How many values of a block are at most each of the values of the whole. */
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

/** As many numbers of blocks as there are blocks, drawn with replacement. */
const drawnBlocks = (count: number, random: Random): readonly number[] =>
  Array.from({ length: count }, () => Math.floor(random() * count));

/** A quantile of drawn blocks together, by bisection over the values: no distribution has to be made. */
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

/**
 * The ratio of two independent estimates with its interval, from the intervals of both: the method of
 * variance estimates recovery (Donner and Zou 2012) on the logarithm, where latencies are near normal.
 */
export const ratioOf = (head: QuantileEstimate, base: QuantileEstimate): Interval & { ratio: number } => {
  const ratio = head.value / base.value;
  const below = Math.hypot(Math.log(head.value / head.low), Math.log(base.high / base.value));
  const above = Math.hypot(Math.log(head.high / head.value), Math.log(base.value / base.low));
  return { ratio, low: ratio * Math.exp(-below), high: ratio * Math.exp(above) };
};
