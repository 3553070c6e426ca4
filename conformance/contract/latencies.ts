import { histogramUnit, type Latencies } from "./load-record.ts";

/** What is needed of an HDR histogram of microseconds; hdr-histogram-js has it. */
interface LatencyHistogram {
  readonly totalCount: number;
  readonly mean: number;
  readonly minNonZeroValue: number;
  readonly maxValue: number;
  highestEquivalentValue(value: number): number;
  getValueAtPercentile(percentile: number): number;
}

/** A histogram of microseconds in a few numbers of milliseconds; all of them 0 where it is empty. */
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
    // As percentiles are: the highest value of its cell, so that none is above it.
    maxMs: inMs(histogram.highestEquivalentValue(histogram.maxValue)),
  };
};
