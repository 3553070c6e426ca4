import { latenciesOf } from "../../../conformance/contract/latencies.ts";
import {
  histogramTag,
  histogramUnit,
  type EndpointRow,
  type Latencies,
  type LoadRecord,
  type SampleOutcome,
} from "../../../conformance/contract/load-record.ts";
import type { Stage } from "../../../conformance/contract/load-shape.ts";
import type { EndpointMeasure } from "../judge/objectives.ts";
import { askedBetween, endOfStages } from "./asked.ts";
import { createBlocks } from "./blocks.ts";
import { latencyHistogram, sparseCounts } from "./histograms.ts";
import type { ClosedSecond, TaggedHistogram } from "./seconds.ts";

/** What a whole run came to. */
export interface Totals {
  /** All of the run, but for its lag, which leaves the warm-up out. */
  readonly achieved: NonNullable<LoadRecord["achieved"]>;
  /** Without the warm-up. */
  readonly endpoints: readonly EndpointRow[];
  /** By endpoint, without the warm-up, in the form in which objectives are judged. */
  readonly measures: Readonly<Record<string, EndpointMeasure>>;
  readonly measuredSeconds: number;
  /** Requests that were under way at a time, on average over the second in which they were the most. */
  readonly mostUnderWay: number;
  /** Requests that waited for a connection at a time, reckoned alike. */
  readonly mostConnecting: number;
}

/** Sums seconds up in memory that does not grow with their number. */
export const createTotals = (stages: readonly Stage[], warmUpMs: number) => {
  const histograms = new Map<string, TaggedHistogram>();
  const counts: Record<string, Record<SampleOutcome, number>> = {};
  const blocks = new Map<string, ReturnType<typeof createBlocks>>();
  const lag = latencyHistogram();
  const sums = { arrivals: 0, dropped: 0, requests: 0, measuredSeconds: 0 };
  const use = createUse();
  let [mostUnderWay, mostConnecting] = [0, 0];

  const merge = (tagged: TaggedHistogram): void => {
    const { endpoint, outcome, kind, histogram } = tagged;
    const tag = histogramTag(endpoint, outcome, kind);
    const whole = histograms.get(tag) ?? { ...tagged, histogram: latencyHistogram() };
    whole.histogram.add(histogram);
    histograms.set(tag, whole);
    if (outcome !== "granted" || kind !== "response") return;
    const kept = blocks.get(endpoint) ?? createBlocks();
    kept.add(sparseCounts(histogram));
    blocks.set(endpoint, kept);
  };

  const add = ({ line, ...second }: ClosedSecond): void => {
    sums.arrivals += line.started;
    sums.dropped += line.dropped;
    for (const { granted, refused, failed } of Object.values(line.requests))
      sums.requests += granted + refused + failed;
    mostUnderWay = Math.max(mostUnderWay, underWayIn(second.histograms));
    mostConnecting = Math.max(mostConnecting, second.blockedMs / 1_000);
    use.add(line);
    if (line.second * 1_000 < warmUpMs) return;
    sums.measuredSeconds += 1;
    lag.add(second.lag);
    for (const [endpoint, of] of Object.entries(line.requests)) {
      const sum = (counts[endpoint] ??= { granted: 0, refused: 0, failed: 0 });
      for (const outcome of ["granted", "refused", "failed"] as const) sum[outcome] += of[outcome];
    }
    for (const tagged of second.histograms) merge(tagged);
  };

  /** `elapsedMs`: the latest moment of the run; all of its stages where it came to its planned end. */
  const summary = (elapsedMs: number, isWhole: boolean): Totals => {
    const { measuredSeconds, ...of } = sums;
    const plannedMs = endOfStages(stages);
    const loadMs = isWhole ? plannedMs : Math.min(elapsedMs, plannedMs);
    const seconds = loadMs / 1_000;
    return {
      achieved: {
        ...of,
        arrivalsAsked: askedBetween(stages, 0, loadMs),
        requestsPerSecond: seconds === 0 ? 0 : of.requests / seconds,
        seconds,
        ...(lag.totalCount === 0 ? {} : { lag: latenciesOf(lag) }),
        ...use.means(),
      },
      endpoints: rowsOf([...histograms.values()]),
      measures: Object.fromEntries(
        Object.entries(counts).map(([endpoint, of]) => [
          endpoint,
          { seconds: blocks.get(endpoint)?.all() ?? [], ...of },
        ]),
      ),
      // The last second is seldom a whole one, and answers may come in after the load has ended.
      measuredSeconds: Math.min(measuredSeconds, Math.max(0, loadMs - warmUpMs) / 1_000),
      mostUnderWay,
      mostConnecting,
    };
  };
  return { add, summary };
};

/** Little's law: requests a second times the seconds that each took. k6 tells its busy users too seldom to be believed. */
const underWayIn = (histograms: readonly TaggedHistogram[]): number =>
  histograms
    .filter(({ kind }) => kind === "service")
    .reduce((sum, { histogram }) => sum + (histogram.totalCount * histogram.mean) / MICROSECONDS, 0);

const MICROSECONDS = 1_000 * histogramUnit.perMs;

/** One row an endpoint and outcome, in the order in which they first came. */
const rowsOf = (histograms: readonly TaggedHistogram[]): readonly EndpointRow[] => {
  const find = (endpoint: string, outcome: SampleOutcome): Latencies => {
    const found = histograms.find(
      (one) => one.endpoint === endpoint && one.outcome === outcome && one.kind === "response",
    );
    return latenciesOf(found?.histogram ?? latencyHistogram());
  };
  return histograms
    .filter(({ kind }) => kind === "service")
    .map(({ endpoint, outcome, histogram }) => ({
      endpoint,
      outcome,
      service: latenciesOf(histogram),
      response: find(endpoint, outcome),
    }));
};

type Use = Pick<
  NonNullable<LoadRecord["achieved"]>,
  "k6Cores" | "k6MemoryMiB" | "collectorCores" | "collectorMemoryMiB" | "machineIdle"
>;

/** Means of processors in use, and the most memory. */
const createUse = () => {
  const means = new Map<keyof Use, { sum: number; count: number }>();
  const most = new Map<keyof Use, number>();
  const mean = (key: keyof Use, value: number | undefined): void => {
    if (value === undefined) return;
    const { sum, count } = means.get(key) ?? { sum: 0, count: 0 };
    means.set(key, { sum: sum + value, count: count + 1 });
  };
  const highest = (key: keyof Use, value: number | undefined): void => {
    if (value !== undefined) most.set(key, Math.max(most.get(key) ?? 0, value));
  };
  return {
    add: ({ k6, collector, machineIdle }: ClosedSecond["line"]): void => {
      mean("k6Cores", k6?.cores);
      mean("collectorCores", collector?.cores);
      mean("machineIdle", machineIdle);
      highest("k6MemoryMiB", k6?.memoryMiB);
      highest("collectorMemoryMiB", collector?.memoryMiB);
    },
    means: (): Use =>
      Object.fromEntries([
        ...[...means].map(([key, { sum, count }]) => [key, sum / count] as const),
        ...most,
      ]),
  };
};
