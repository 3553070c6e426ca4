import { quantileOf, type Counted } from "../../conformance/contract/distribution.ts";
import type { Densities } from "./shape.ts";

const BUCKETS = 60;

/** From the minimum latency to the 99.9th percentile; the last bucket counts everything above it. */
export const densitiesOf = (endpoint: string, base: Counted, head: Counted): Densities => {
  const lowest = Math.min(quantileOf(base, 0), quantileOf(head, 0));
  const highest = Math.max(quantileOf(base, 0.999), quantileOf(head, 0.999));
  const width = Math.log(highest / lowest) / BUCKETS || Number.MIN_VALUE;
  const shares = ({ values, counts, total }: Counted): number[] => {
    const sums = Array.from({ length: BUCKETS }, () => 0);
    for (let at = 0; at < values.length; at += 1) {
      const bucket = Math.min(BUCKETS - 1, Math.floor(Math.log((values[at] ?? 0) / lowest) / width));
      sums[bucket] = (sums[bucket] ?? 0) + (counts[at] ?? 0) / total;
    }
    return sums;
  };
  return {
    endpoint,
    edgesMs: Array.from({ length: BUCKETS + 1 }, (_, at) => lowest * Math.exp(at * width)),
    base: shares(base),
    head: shares(head),
  };
};
