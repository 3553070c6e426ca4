import { histogramUnit, type Latencies } from "./load-record.ts";

/** The needed part of an HDR histogram of microseconds, as in hdr-histogram-js. */
interface LatencyHistogram {
  readonly totalCount: number;
  readonly mean: number;
  readonly minNonZeroValue: number;
  readonly maxValue: number;
  highestEquivalentValue(value: number): number;
  getValueAtPercentile(percentile: number): number;
}

/** Summarizes a histogram of microseconds in milliseconds; all 0 if it is empty. */
export const latenciesOf = (histogram: LatencyHistogram): Latencies => {
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
