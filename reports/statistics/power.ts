import { noncentralTCdf, tQuantile } from "./distributions.ts";

export interface TestPlan {
  /** Probability of a false alarm of this one test, two-sided. */
  readonly alpha: number;
  /** Probability that an effect of the size in question is found. */
  readonly power: number;
}

/**
 * Probability that the two-sided t test on `count` values finds a true mean of `effect`, where
 * single values deviate by `deviation`: exactly, by the noncentral t distribution.
 */
export const powerOf = (effect: number, deviation: number, count: number, alpha: number): number => {
  if (count < 2) return 0;
  if (deviation === 0) return effect === 0 ? alpha : 1;
  const noncentrality = (Math.abs(effect) * Math.sqrt(count)) / deviation;
  const bound = tQuantile(1 - alpha / 2, count - 1);
  // Far beyond the bound the series of the distribution only costs time and digits.
  if (noncentrality > 3 * bound + 12) return 1;
  const missed =
    noncentralTCdf(bound, count - 1, noncentrality) - noncentralTCdf(-bound, count - 1, noncentrality);
  return Math.min(1, Math.max(0, 1 - missed));
};

/** The smallest true mean that the test finds with the planned power; Infinity for fewer than two values. */
export const smallestDetectable = (deviation: number, count: number, plan: TestPlan): number => {
  if (count < 2) return Infinity;
  return deviation === 0 ? 0 : deviation * inDeviations(count, plan);
};

/** Few different questions are asked very often, and each answer costs a hundred sums of a long series. */
const answers = new Map<string, number>();

/** The same for a deviation of 1, to which every other one is in proportion. */
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
const MOST_VALUES = 100_000;

/** How many values the test needs to find a true mean of `effect` with the planned power; at most 100,000. */
export const countFor = (effect: number, deviation: number, { alpha, power }: TestPlan): number => {
  let [low, high] = [1, 2];
  while (high < MOST_VALUES && powerOf(effect, deviation, high, alpha) < power)
    [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (powerOf(effect, deviation, middle, alpha) < power) low = middle;
    else high = middle;
  }
  return Math.min(high, MOST_VALUES);
};
