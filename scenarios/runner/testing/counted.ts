import type { Counted } from "../../../conformance/contract/distribution.ts";
import { countedMs, latencyHistogram, note } from "../collect/histograms.ts";

/** This many of each latency, given in milliseconds. */
export const counted = (counts: Readonly<Record<number, number>>): Counted => {
  const histogram = latencyHistogram();
  for (const [ms, count] of Object.entries(counts))
    histogram.recordValueWithCount(Math.round(Number(ms) * 1_000), count);
  return countedMs(histogram);
};

export const histogramOf = (latenciesMs: readonly number[]) => {
  const histogram = latencyHistogram();
  for (const ms of latenciesMs) note(histogram, ms);
  return histogram;
};
