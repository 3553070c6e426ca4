import type { LatencyKind, LoadRecord, SampleOutcome } from "../../conformance/contract/load-record.ts";
import type { Histogram, HistogramFilter } from "./latency-log.ts";
import type { LoadRun } from "./opened.ts";

/** All latencies of an endpoint over a stretch of the load, in microseconds. */
export interface TotalHistogram {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  readonly kind: LatencyKind;
  readonly histogram: Histogram;
}

export const firstCounted = ({ warmUpMs }: Pick<LoadRecord, "warmUpMs">): number =>
  Math.ceil(warmUpMs / 1_000);

export interface TotalsFilter extends HistogramFilter {
  /** The first second that counts, such as the first after the warm-up; 0 by default. */
  readonly fromSecond?: number;
}

/** The histograms of a run merged over its seconds, one for each endpoint, outcome and kind, in the order of their first line. */
export const totalsOf = async (
  run: Pick<LoadRun, "histograms">,
  { fromSecond = 0, ...filter }: TotalsFilter = {},
): Promise<readonly TotalHistogram[]> => {
  const totals = new Map<string, TotalHistogram>();
  for await (const { endpoint, outcome, kind, second, histogram } of run.histograms(filter)) {
    if (second < fromSecond) continue;
    const key = `${endpoint};${outcome};${kind}`;
    const known = totals.get(key);
    // The first one that was decoded becomes the sum: no other code holds it.
    if (known === undefined) totals.set(key, { endpoint, outcome, kind, histogram });
    else known.histogram.add(histogram);
  }
  return [...totals.values()];
};
