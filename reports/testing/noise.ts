import type { Block } from "../../conformance/contract/duet.ts";
import { logRatios, pairedValues, sortedPairs } from "../duet/judge.ts";
import { deviation, mean } from "../statistics/sample.ts";
import type { DuetNoise } from "./duets.ts";

/** Noise found in A/A duets, in the parameters of the simulation, and what it rests on. */
export interface MeasuredNoise {
  readonly noise: Omit<DuetNoise, "burstChance" | "burst" | "burstBlocks">;
  /**
   * Standard deviation of the logarithm of a pair's ratio, over all endpoints; it decides how many pairs are needed.
   */
  readonly ratioDeviation: { readonly p50: number; readonly p95: number };
  /** Correlation of the machine's level between one block and the next. */
  readonly autocorrelation: number;
  readonly pairs: number;
}

/**
 * The machine's noise, from the blocks of all A/A duets together. What two endpoints have in common is attributed to
 * the machine, the rest to the endpoint. Bursts count as part of the level, because they are indistinguishable in so
 * few blocks; a simulation with these parameters has no separate bursts.
 */
export const noiseOf = (duets: readonly (readonly Block[])[]): MeasuredNoise => {
  const perDuet = duets.map(partsOf);
  const together = (value: (part: Parts) => number): number => mean(perDuet.map(value));
  const variance = (value: (part: Parts) => number): number => Math.max(0, together(value));
  const level = Math.sqrt(variance((part) => part.levelVariance));
  const autocorrelation = level === 0 ? 0 : together((part) => part.lagCovariance) / level ** 2;
  const ownP50 = variance((part) => part.p50.ownVariance);
  const ownP95 = variance((part) => part.p95.ownVariance);
  const own = Math.sqrt(ownP50);
  return {
    noise: {
      own,
      // In the simulation, the p95 has half of the median's noise plus its own tail.
      tail: own === 0 ? 0 : Math.sqrt(Math.max(0, ownP95 / ownP50 - 0.25)),
      level,
      persistence: Math.min(0.99, Math.max(0, autocorrelation)),
      drift: Math.sqrt(together((part) => part.drift ** 2)),
    },
    ratioDeviation: {
      p50: Math.sqrt(together((part) => part.p50.ratioVariance)),
      p95: Math.sqrt(together((part) => part.p95.ratioVariance)),
    },
    autocorrelation,
    pairs: perDuet.reduce((sum, { pairs }) => sum + pairs, 0),
  };
};

interface Ratios {
  readonly ratioVariance: number;
  readonly ownVariance: number;
}

interface Parts {
  readonly pairs: number;
  readonly p50: Ratios;
  readonly p95: Ratios;
  readonly levelVariance: number;
  readonly lagCovariance: number;
  /** Change of the level from the first to the last block, on the logarithm. */
  readonly drift: number;
}

const partsOf = (blocks: readonly Block[]): Parts => {
  const endpoints = [...new Set(blocks.map(({ endpoint }) => endpoint))];
  const { clean } = sortedPairs(blocks);
  const ratios = (metric: "p50" | "p95"): Ratios => {
    const series = endpoints.map((endpoint) => logRatios(pairedValues(blocks, clean, endpoint, metric)));
    const ratioVariance = mean(series.map((values) => deviation(values) ** 2));
    return { ratioVariance, ownVariance: (ratioVariance - sharedVariance(series)) / 2 };
  };
  // In playing order, which is how a duet lists its blocks.
  const courses = endpoints.map((endpoint) => {
    const own = blocks.filter((block) => block.endpoint === endpoint && clean.includes(block.pair));
    return own.map(({ p50Ms }) => Math.log(p50Ms));
  });
  const slope = mean(courses.map(slopeOf));
  const level = courses.map((course) => {
    const middle = mean(course);
    const centre = (course.length - 1) / 2;
    return course.map((value, at) => value - middle - slope * (at - centre));
  });
  return {
    pairs: clean.length,
    p50: ratios("p50"),
    p95: ratios("p95"),
    levelVariance: sharedVariance(level),
    lagCovariance: lagCovariance(level),
    drift: slope * ((courses[0]?.length ?? 1) - 1),
  };
};

/** Mean covariance over all pairs of these series: the variance they share. */
const sharedVariance = (series: readonly (readonly number[])[]): number =>
  mean(pairsOf(series).map(([x, y]) => covariance(x, y)));

/** The same between consecutive blocks, where an endpoint's own noise cancels out. */
const lagCovariance = (series: readonly (readonly number[])[]): number =>
  mean(
    pairsOf(series).map(
      ([x, y]) => (covariance(x.slice(0, -1), y.slice(1)) + covariance(y.slice(0, -1), x.slice(1))) / 2,
    ),
  );

const pairsOf = <T>(values: readonly T[]): readonly (readonly [T, T])[] =>
  values.flatMap((x, at) => values.slice(at + 1).map((y) => [x, y] as const));

const covariance = (x: readonly number[], y: readonly number[]): number => {
  const [meanX, meanY] = [mean(x), mean(y)];
  const products = x.map((value, at) => (value - meanX) * ((y[at] ?? meanY) - meanY));
  return products.reduce((sum, value) => sum + value, 0) / Math.max(1, products.length - 1);
};

const slopeOf = (values: readonly number[]): number => {
  const places = values.map((_, at) => at);
  return covariance(places, values) / covariance(places, places);
};
