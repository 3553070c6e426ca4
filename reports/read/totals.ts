import { histogramTag, type HistogramTag, type LoadRecord } from "../../conformance/contract/load-record.ts";
import type { Histogram } from "./latency-log.ts";
import type { LoadRun } from "./opened.ts";

/** All latencies of an endpoint over a stretch of the load, in microseconds. */
interface TotalHistogram extends HistogramTag {
  readonly histogram: Histogram;
}

/** The first second after the warm-up. */
export const firstCounted = ({ warmUpMs }: Pick<LoadRecord, "warmUpMs">): number =>
  Math.ceil(warmUpMs / 1_000);

/** The histograms of a run merged over its seconds after the warm-up, in the order of their first line. */
export const totalsOf = async (run: LoadRun): Promise<readonly TotalHistogram[]> => {
  const totals = new Map<string, TotalHistogram>();
  const from = firstCounted(run.record);
  for await (const { second, ...total } of run.histograms()) {
    if (second < from) continue;
    const key = histogramTag(total);
    const known = totals.get(key);
    // The first decoded histogram accumulates the sum: nothing else references it.
    if (known === undefined) totals.set(key, total);
    else known.histogram.add(total.histogram);
  }
  return [...totals.values()];
};
