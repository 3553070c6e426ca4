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

/** Probability of at most this many successes. */
export const binomialCdf = (successes: number, trials: number, probability: number): number =>
  jStat.binomial.cdf(successes, trials, probability);
