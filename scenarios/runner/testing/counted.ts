import { latencyHistogram, sparseCounts, type SparseCounts } from "../judge/counts.ts";

/** So many of each latency, given in milliseconds. */
export const counted = (counts: Readonly<Record<number, number>>): SparseCounts => {
  const histogram = latencyHistogram();
  for (const [ms, count] of Object.entries(counts))
    histogram.recordValueWithCount(Math.round(Number(ms) * 1_000), count);
  return sparseCounts(histogram);
};
