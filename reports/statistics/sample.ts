import * as array from "d3-array";
import type { Interval } from "../../conformance/contract/distribution.ts";
import { tQuantile, twoSidedP } from "./distributions.ts";

export const mean = (values: readonly number[]): number => array.mean(values) ?? NaN;

/** Sample standard deviation (divided by n - 1); 0 for fewer than two values. */
export const deviation = (values: readonly number[]): number => array.deviation(values) ?? 0;

/** The median: for an even count, the mean of the two middle values. NaN for none. */
export const median = (values: readonly number[]): number => array.median(values) ?? NaN;

export interface TEstimate extends Interval {
  readonly mean: number;
  readonly deviation: number;
  readonly count: number;
  /** Two-sided probability of a mean at least this far from 0 if the true mean is 0. */
  readonly p: number;
}

/**
 * Student's t interval of the mean, and the test of the mean against 0. With fewer than two values the interval is
 * infinite and p is 1. If all values are equal, the interval is that value.
 */
export const tEstimate = (values: readonly number[], confidence: number): TEstimate => {
  const count = values.length;
  const centre = count === 0 ? 0 : mean(values);
  if (count < 2) return { mean: centre, deviation: 0, count, low: -Infinity, high: Infinity, p: 1 };
  const spread = deviation(values);
  const error = spread / Math.sqrt(count);
  const reach = tQuantile(1 - (1 - confidence) / 2, count - 1) * error;
  const p = error === 0 ? (centre === 0 ? 1 : 0) : twoSidedP(centre / error, count - 1);
  return { mean: centre, deviation: spread, count, low: centre - reach, high: centre + reach, p };
};

/**
 * Limits that contain one future observation from the same normal population with this confidence: mean ± t(1
 * - α/2, n - 1) · s · √(1 + 1/n) (Hahn and Meeker, Statistical Intervals, section 4.8). They account for mean
 * and deviation being estimates.
 */
export const predictionLimits = (values: readonly number[], confidence: number): Interval => {
  const count = values.length;
  if (count < 2) return { low: -Infinity, high: Infinity };
  const reach = tQuantile(1 - (1 - confidence) / 2, count - 1) * deviation(values) * Math.sqrt(1 + 1 / count);
  return { low: mean(values) - reach, high: mean(values) + reach };
};
