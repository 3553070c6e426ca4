import {
  histogramUnit,
  type LoadRecord,
  type SampleOutcome,
} from "../../conformance/contract/load-record.ts";
import type { LoadRun } from "../read/index.ts";
import type { Histogram } from "../read/latency-log.ts";
import { firstCounted } from "../read/totals.ts";
import { quantileEstimates, type QuantileEstimate } from "../statistics/blocks.ts";
import { countedOf, mergeCounted, type Counted } from "../statistics/distribution.ts";
import type { Random } from "../statistics/random.ts";

export const comparedQuantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
export type QuantileName = keyof typeof comparedQuantiles;
export const quantileNames = Object.keys(comparedQuantiles) as readonly QuantileName[];

/** Latencies of one endpoint over a whole run without its warm-up, in milliseconds. */
export interface EndpointProfile {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  readonly all: Counted;
  readonly quantiles: Readonly<Record<QuantileName, QuantileEstimate>>;
}

const MOST_BLOCKS = 40;
const CONFIDENCE = 0.95;

/**
 * The response latency (as the user would have felt it) of each endpoint with granted requests, with
 * intervals from up to 40 blocks of time. Chance only resamples the blocks.
 */
export const latencyProfile = async (run: LoadRun, random: Random): Promise<readonly EndpointProfile[]> => {
  const from = firstCounted(run.record);
  const blockSeconds = Math.max(1, Math.ceil((lengthOf(run.record) - from) / MOST_BLOCKS));
  const blocks = new Map<string, Map<number, Histogram>>();
  for await (const { endpoint, second, histogram } of run.histograms({
    kind: "response",
    outcome: "granted",
  })) {
    if (second < from) continue;
    const block = Math.floor((second - from) / blockSeconds);
    const ofEndpoint = blocks.get(endpoint) ?? new Map<number, Histogram>();
    blocks.set(endpoint, ofEndpoint);
    const known = ofEndpoint.get(block);
    if (known === undefined) ofEndpoint.set(block, histogram);
    else known.add(histogram);
  }
  return [...blocks].map(([endpoint, parts]) => {
    const counted = [...parts.values()].map((part) => countedOf(part, histogramUnit.perMs));
    const shares = Object.values(comparedQuantiles);
    const estimates = quantileEstimates(counted, shares, CONFIDENCE, random);
    const quantiles = Object.fromEntries(
      quantileNames.map((name, at) => [name, estimates[at]]),
    ) as unknown as EndpointProfile["quantiles"];
    return { endpoint, outcome: "granted", all: mergeCounted(counted), quantiles };
  });
};

const lengthOf = ({ achieved, durationMs }: LoadRecord): number => achieved?.seconds ?? durationMs / 1_000;
