import * as array from "d3-array";
import type { Interval } from "../../conformance/contract/distribution.ts";
import jStat from "jstat";

/** The value that a t-distributed variable stays below with this probability. */
export const tQuantile = (probability: number, degreesOfFreedom: number): number =>
  jStat.studentt.inv(probability, degreesOfFreedom);

/** The probability that |t| is at least this large (two-sided). */
export const twoSidedP = (t: number, degreesOfFreedom: number): number => {
  if (Number.isNaN(t)) return 1;
  // The lower tail keeps its digits; the upper one would be 1 minus something tiny.
  return Number.isFinite(t) ? Math.min(1, 2 * jStat.studentt.cdf(-Math.abs(t), degreesOfFreedom)) : 0;
};

/** Probability that a noncentral t variable is at most x. */
export const noncentralTCdf = (x: number, degreesOfFreedom: number, noncentrality: number): number =>
  jStat.noncentralt.cdf(x, degreesOfFreedom, noncentrality);

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

/**
 * P values adjusted for multiple testing (Holm 1979): those at most α after adjustment may all be rejected, with
 * probability at most α of any false rejection, whatever the dependence between tests. In input order.
 */
export const holm = (pValues: readonly number[]): readonly number[] => {
  const order = pValues.map((p, at) => ({ p, at })).toSorted((a, b) => a.p - b.p);
  const adjusted = Array.from(pValues, () => 1);
  let least = 0;
  for (const [rank, { p, at }] of order.entries()) {
    least = Math.max(least, Math.min(1, (pValues.length - rank) * p));
    adjusted[at] = least;
  }
  return adjusted;
};

export interface TestPlan {
  /** Probability of a false alarm of this single test, two-sided. */
  readonly alpha: number;
  /** Probability of detecting an effect of the given size. */
  readonly power: number;
}

/**
 * Power of the two-sided t test on `count` values for a true mean of `effect` and a standard deviation of `deviation`:
 * exact, by the noncentral t distribution.
 */
export const powerOf = (effect: number, deviation: number, count: number, alpha: number): number => {
  if (count < 2) return 0;
  if (deviation === 0) return effect === 0 ? alpha : 1;
  const noncentrality = (Math.abs(effect) * Math.sqrt(count)) / deviation;
  const bound = tQuantile(1 - alpha / 2, count - 1);
  // Far above the bound, the series costs time and loses digits.
  if (noncentrality > 3 * bound + 12) return 1;
  const missed =
    noncentralTCdf(bound, count - 1, noncentrality) - noncentralTCdf(-bound, count - 1, noncentrality);
  return Math.min(1, Math.max(0, 1 - missed));
};

/** The smallest true mean detected with the planned power; Infinity for fewer than two values. */
export const smallestDetectable = (deviation: number, count: number, plan: TestPlan): number => {
  if (count < 2) return Infinity;
  return deviation === 0 ? 0 : deviation * inDeviations(count, plan);
};

/** The same few arguments recur very often, and each answer sums a long series about a hundred times. */
const answers = new Map<string, number>();

/** The same for a standard deviation of 1; others are proportional. */
const inDeviations = (count: number, plan: TestPlan): number => {
  const question = `${count} ${plan.alpha} ${plan.power}`;
  const answer = answers.get(question) ?? searched(count, plan);
  answers.set(question, answer);
  return answer;
};

const searched = (count: number, { alpha, power }: TestPlan): number => {
  let [low, high] = [0, 1];
  while (powerOf(high, 1, count, alpha) < power) [low, high] = [high, high * 2];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (powerOf(middle, 1, count, alpha) < power) low = middle;
    else high = middle;
  }
  return high;
};

const BISECTIONS = 24;
