import {
  drawnIntervals,
  mergeCounted,
  quantileOf,
  valueOfRank,
  type Counted,
  type Interval,
} from "../../conformance/contract/distribution.ts";
import type { Random } from "../../conformance/contract/random.ts";
import { binomialCdf } from "./sample.ts";

export interface QuantileEstimate extends Interval {
  readonly value: number;
  /** Source of the interval: `blocks` of time that were resampled, or `requests` treated as independent. */
  readonly by: "blocks" | "requests";
}

/** With fewer blocks, resamples repeat themselves too often for a meaningful interval. */
const LEAST_BLOCKS = 8;

/**
 * Quantiles of a run with intervals, by the bootstrap over blocks of time. With too few blocks, intervals come from
 * order statistics, which are too narrow for correlated requests; `by` says which.
 */
export const quantileEstimates = (
  blocks: readonly Counted[],
  shares: readonly number[],
  confidence: number,
  random: Random,
): readonly QuantileEstimate[] => {
  const filled = blocks.filter(({ total }) => total > 0);
  const all = mergeCounted(filled);
  const isDrawn = filled.length >= LEAST_BLOCKS;
  const intervals = isDrawn
    ? drawnIntervals(filled, shares, confidence, random)
    : shares.map((share) => orderStatisticInterval(all, share, confidence));
  return intervals.map((interval, at) => ({
    value: quantileOf(all, shares[at] ?? 0),
    ...interval,
    by: isDrawn ? "blocks" : "requests",
  }));
};

/**
 * The interval of a quantile from order statistics: whatever the distribution, the number of values below the true
 * quantile is binomial (Hahn and Meeker, section 5.2). It assumes independent values, which requests of one second are
 * not: use it only if there are no blocks to resample. An end is infinite (or 0 at the low end) if there are too few
 * values to bound it.
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

/** The smallest number of successes with at least this cumulative probability. */
const binomialQuantile = (probability: number, trials: number, share: number): number => {
  let [low, high] = [-1, trials];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (binomialCdf(middle, trials, share) >= probability) high = middle;
    else low = middle;
  }
  return high;
};

/**
 * The ratio of two independent estimates with its interval, from both intervals: the method of variance estimates
 * recovery (Donner and Zou 2012) on the logarithm, on which latencies are nearly normal.
 */
export const ratioOf = (head: QuantileEstimate, base: QuantileEstimate): Interval & { ratio: number } => {
  const ratio = head.value / base.value;
  const below = Math.hypot(Math.log(head.value / head.low), Math.log(base.high / base.value));
  const above = Math.hypot(Math.log(head.high / head.value), Math.log(base.value / base.low));
  return { ratio, low: ratio * Math.exp(-below), high: ratio * Math.exp(above) };
};
