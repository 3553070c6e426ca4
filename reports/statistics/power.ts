import { noncentralTCdf, tQuantile } from "./distributions.ts";

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
