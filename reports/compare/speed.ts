import type { Case } from "../../conformance/contract/cases.ts";
import {
  countedOf,
  mergeCounted,
  quantileOf,
  type Counted,
} from "../../conformance/contract/distribution.ts";
import { histogramUnit, type LoadRecord } from "../../conformance/contract/load-record.ts";
import type { Random } from "../../conformance/contract/random.ts";
import { firstCounted, type LoadRun } from "../read/index.ts";
import { addedByKey } from "../read/latency-log.ts";
import { quantileEstimates, ratioOf, type QuantileEstimate } from "../statistics/blocks.ts";
import type { ComparedLatency, Densities, Speed } from "./shape.ts";

/**
 * Two load runs side by side. Differences in speed are shown, never judged: two runs cannot tell a change from chance.
 * `random` only resamples blocks of time.
 */
export const compareSpeed = async (base: LoadRun, head: LoadRun, random: Random): Promise<Speed> => {
  const [before, now] = [await profilesOf(base, random), await profilesOf(head, random)];
  const both = now.flatMap((profile) => {
    const other = before.find(({ endpoint }) => endpoint === profile.endpoint);
    return other === undefined ? [] : [[other, profile] as const];
  });
  return {
    latencies: both.flatMap((pair) => latenciesOf(...pair)),
    distributions: both.map(([ofBase, ofHead]) => densitiesOf(ofHead.endpoint, ofBase.all, ofHead.all)),
    totals: totalsOf(base.record.cases, head.record.cases),
  };
};

/** The request rate and the share of failed requests, of all endpoints together. */
const totalsOf = (base: readonly Case[], head: readonly Case[]): Speed["totals"] =>
  head.flatMap(({ id, status, measured }) => {
    if (status !== "measured" || (measured?.unit !== "share" && measured?.unit !== "per second")) return [];
    const { unit, value } = measured;
    return [{ id, unit, base: base.find((one) => one.id === id)?.measured?.value ?? 0, head: value }];
  });

const latenciesOf = (base: EndpointProfile, head: EndpointProfile): readonly ComparedLatency[] =>
  quantileNames.map((quantile) => {
    const [before, now] = [base.quantiles[quantile], head.quantiles[quantile]];
    const { ratio, ...interval } = ratioOf(now, before);
    return {
      id: `${head.endpoint} ${quantile}`,
      baseMs: before.value,
      headMs: now.value,
      ratio,
      interval,
      by: before.by === "blocks" ? now.by : "requests",
    };
  });

const comparedQuantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
type QuantileName = keyof typeof comparedQuantiles;
const quantileNames = Object.keys(comparedQuantiles) as readonly QuantileName[];

/** Latencies of one endpoint over a whole run without its warm-up, in milliseconds. */
interface EndpointProfile {
  readonly endpoint: string;
  readonly all: Counted;
  readonly quantiles: Readonly<Record<QuantileName, QuantileEstimate>>;
}

const MOST_BLOCKS = 40;
const CONFIDENCE = 0.95;

/**
 * The response latency (as experienced by the user) of each endpoint with granted requests, with intervals from up to
 * 40 blocks of time.
 */
const profilesOf = async (run: LoadRun, random: Random): Promise<readonly EndpointProfile[]> => {
  const from = firstCounted(run.record);
  const blockSeconds = Math.max(1, Math.ceil((lengthOf(run.record) - from) / MOST_BLOCKS));
  const blocks = await addedByKey(
    run.histograms({ kind: "response", outcome: "granted" }),
    ({ endpoint, second }) =>
      second < from ? undefined : `${endpoint} ${Math.floor((second - from) / blockSeconds)}`,
  );
  return [...Map.groupBy(blocks.values(), ({ endpoint }) => endpoint)].map(([endpoint, parts]) => {
    const counted = parts.map(({ histogram }) => countedOf(histogram, histogramUnit.perMs));
    const estimates = quantileEstimates(counted, Object.values(comparedQuantiles), CONFIDENCE, random);
    const quantiles = Object.fromEntries(
      quantileNames.map((name, at) => [name, estimates[at]]),
    ) as unknown as EndpointProfile["quantiles"];
    return { endpoint, all: mergeCounted(counted), quantiles };
  });
};

const lengthOf = ({ achieved, durationMs }: LoadRecord): number => achieved?.seconds ?? durationMs / 1_000;

const BUCKETS = 60;

/** From the minimum latency to the 99.9th percentile; the last bucket counts everything above it. */
const densitiesOf = (endpoint: string, base: Counted, head: Counted): Densities => {
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
