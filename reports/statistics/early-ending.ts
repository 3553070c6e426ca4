import { normalCdf, normalQuantile } from "./distributions.ts";

/*
 * Group-sequential testing: looking at the data before it is complete, without more false alarms. Lan and DeMets (1983)
 * spend the probability of a false alarm step by step; the spending function here is their approximation of O'Brien and
 * Fleming's boundaries, which leaves nearly all of it to the last look.
 */

/** How much of alpha (two-sided) may be spent once this share of the data is in. */
const spent = (alpha: number, share: number): number =>
  share >= 1 ? alpha : 4 * (1 - normalCdf(normalQuantile(1 - alpha / 4) / Math.sqrt(share)));

/**
 * The two-sided significance level at each look, given the shares of the data at the looks (ascending, the last one 1),
 * such that all looks together raise at most `alpha` false alarms. A t test compares its p value with them (Jennison
 * and Turnbull 2000, section 3.8: the significance level approach). Boundaries come from numeric integration of the
 * process between looks (Armitage, McPherson and Rowe 1969).
 */
export const lookLevels = (alpha: number, shares: readonly number[]): readonly number[] => {
  const levels: number[] = [];
  let density: Density | undefined;
  let spentBefore = 0;
  for (const [look, share] of shares.entries()) {
    const before = shares[look - 1] ?? 0;
    const allowed = spent(alpha, share) - spentBefore;
    const exit = (bound: number): number =>
      exitProbability(density, share - before, bound * Math.sqrt(share));
    const bound = solve(exit, allowed);
    levels.push(2 * (1 - normalCdf(bound)));
    if (look < shares.length - 1) density = continued(density, share - before, bound * Math.sqrt(share));
    spentBefore = spent(alpha, share);
  }
  return levels;
};

/** Density of the score process among runs that have not stopped, at equally spaced points with Simpson's weights. */
interface Density {
  readonly points: Float64Array;
  readonly masses: Float64Array;
}

const POINTS = 401;
/** Higher bounds of z are never reached in practice, and their probabilities are mostly rounding error. */
const GREATEST_BOUND = 8;

const exitProbability = (density: Density | undefined, step: number, bound: number): number => {
  const sigma = Math.sqrt(step);
  if (density === undefined) return 2 * normalCdf(-bound / sigma);
  let sum = 0;
  for (let at = 0; at < density.points.length; at += 1) {
    const point = density.points[at] ?? 0;
    const tails = normalCdf((-bound - point) / sigma) + normalCdf((point - bound) / sigma);
    sum += (density.masses[at] ?? 0) * tails;
  }
  return sum;
};

/** The process after another step, truncated at the bounds where it stopped. */
const continued = (density: Density | undefined, step: number, bound: number): Density => {
  const sigma = Math.sqrt(step);
  const width = (2 * bound) / (POINTS - 1);
  const points = Float64Array.from({ length: POINTS }, (_, at) => at * width - bound);
  const masses = points.map((point, at) => {
    const weight = (width / 3) * (at === 0 || at === POINTS - 1 ? 1 : at % 2 === 1 ? 4 : 2);
    if (density === undefined) return weight * normalDensity(point / sigma) * (1 / sigma);
    let sum = 0;
    for (let from = 0; from < density.points.length; from += 1)
      sum += (density.masses[from] ?? 0) * normalDensity((point - (density.points[from] ?? 0)) / sigma);
    return (weight * sum) / sigma;
  });
  return { points, masses };
};

const normalDensity = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** The bound at which the decreasing function has this value. */
const solve = (exit: (bound: number) => number, value: number): number => {
  let [low, high] = [0, GREATEST_BOUND];
  if (exit(high) > value) return high;
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (exit(middle) > value) low = middle;
    else high = middle;
  }
  return high;
};
