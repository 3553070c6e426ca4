import { addedUp, requestsIn } from "../../../conformance/contract/second-counts.ts";
import type { Int32Histogram } from "hdr-histogram-js";
import { latenciesOf, mergeCounted, type Counted } from "../../../conformance/contract/distribution.ts";
import {
  histogramTag,
  histogramUnit,
  type EndpointRow,
  type LoadRecord,
  type Shortfall,
} from "../../../conformance/contract/load-record.ts";
import type { Stage } from "../../protocol.ts";
import { askedBetween, endOfStages } from "../../stages.ts";
import type { EndpointMeasure } from "../judge/objectives.ts";
import { countedMs, latencyHistogram, sumOf, type TaggedHistogram } from "./histograms.ts";
import { addCounts, type Counts } from "./requests.ts";
import type { ClosedSecond } from "./seconds.ts";
import { inGroups } from "../../../conformance/contract/text.ts";

export interface Totals {
  /** For the whole run, except the lag, which excludes the warm-up. */
  readonly achieved: NonNullable<LoadRecord["achieved"]>;
  /** Without the warm-up. */
  readonly endpoints: readonly EndpointRow[];
  /** By endpoint, without the warm-up, in the form for judging objectives. */
  readonly measures: Readonly<Record<string, EndpointMeasure>>;
  readonly measuredSeconds: number;
  /** Start lag of iterations, without the warm-up. */
  readonly lag: Int32Histogram;
}

/** Sums up seconds in memory that does not grow with their number. */
export const createTotals = (stages: readonly Stage[], warmUpMs: number) => {
  const endpoints = createEndpointTotals();
  const lag = latencyHistogram();
  const sums = { arrivals: 0, dropped: 0, requests: 0, measuredSeconds: 0 };
  const use = createUse();
  const shortfall = createUse();
  let [mostUnderWay, mostConnecting] = [0, 0];
  let unsent: Readonly<Record<string, number>> | undefined;

  const add = (second: ClosedSecond): void => {
    const { line } = second;
    sums.arrivals += line.started;
    sums.dropped += line.dropped;
    sums.requests += requestsIn([line]).all;
    if (line.unsent !== undefined) unsent = addedUp([unsent ?? {}, line.unsent]);
    mostUnderWay = Math.max(mostUnderWay, underWayIn(second.histograms));
    mostConnecting = Math.max(mostConnecting, second.blockedMs / 1_000);
    use.add(line);
    const lacked = lackedIn(line);
    if (lacked > 0) shortfall.add(line, lacked, lateIn(second));
    if (line.second * 1_000 < warmUpMs) return;
    sums.measuredSeconds += 1;
    if (second.lag !== undefined) lag.add(second.lag);
    endpoints.add(second);
  };

  /** `elapsedMs`: the latest moment of the run, or the length of all stages if it reached its planned end. */
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
        ...(unsent && { unsent: { ...unsent } }),
        seconds,
        ...(lag.totalCount === 0 ? {} : { lag: latenciesOf(lag) }),
        ...use.means("k6Cores", "collectorCores", "machineIdle"),
        ...use.most(),
        mostUnderWay,
        mostConnecting,
        ...shortfallOf(shortfall),
      },
      ...endpoints.summary(),
      lag,
      // The last second is rarely complete, and answers may arrive after the load has ended.
      measuredSeconds: Math.min(measuredSeconds, Math.max(0, loadMs - warmUpMs) / 1_000),
    };
  };
  return { add, addLag: (more: Int32Histogram): void => lag.add(more), summary };
};

const createEndpointTotals = () => {
  const histograms = new Map<string, TaggedHistogram>();
  const counts: Record<string, Counts> = {};
  const blocks = new Map<string, ReturnType<typeof createBlocks>>();
  const merge = (tagged: TaggedHistogram): void => {
    const { endpoint, outcome, kind, histogram } = tagged;
    const tag = histogramTag(tagged);
    const whole = histograms.get(tag) ?? { ...tagged, histogram: latencyHistogram() };
    whole.histogram.add(histogram);
    histograms.set(tag, whole);
    if (outcome !== "granted" || kind !== "response") return;
    const kept = blocks.get(endpoint) ?? createBlocks();
    kept.add(countedMs(histogram));
    blocks.set(endpoint, kept);
  };
  return {
    add: ({ line, ...second }: ClosedSecond): void => {
      addCounts(counts, line.requests);
      for (const tagged of second.histograms) merge(tagged);
    },
    summary: (): Pick<Totals, "endpoints" | "measures"> => ({
      endpoints: rowsOf(histograms, counts),
      measures: Object.fromEntries(
        Object.entries(counts).map(([endpoint, { causes: _causes, ...of }]) => [
          endpoint,
          { seconds: blocks.get(endpoint)?.all() ?? [], ...of },
        ]),
      ),
    }),
  };
};

/**
 * Little's law: requests per second times the seconds each took. k6 reports its busy users too rarely to be reliable.
 */
const underWayIn = (histograms: readonly TaggedHistogram[]): number =>
  histograms
    .filter(({ kind }) => kind === "service")
    .reduce((sum, { histogram }) => sum + sumOf(histogram) / MICROSECONDS, 0);

const MICROSECONDS = 1_000 * histogramUnit.perMs;

/** One row per endpoint and outcome, in order of first occurrence. */
const rowsOf = (
  histograms: ReadonlyMap<string, TaggedHistogram>,
  counts: Readonly<Record<string, Counts>>,
): readonly EndpointRow[] =>
  [...histograms.values()]
    .filter(({ kind }) => kind === "service")
    .map(({ endpoint, outcome, histogram }) => {
      const response = histograms.get(histogramTag({ endpoint, outcome, kind: "response" }));
      const causes = outcome === "failed" ? counts[endpoint]?.causes : undefined;
      return {
        endpoint,
        outcome,
        service: latenciesOf(histogram),
        response: latenciesOf(response?.histogram ?? latencyHistogram()),
        ...(causes && { causes }),
      };
    });

type Mean = "k6Cores" | "collectorCores" | "collectorLagMs" | "machineIdle" | "lateMs";

/** Weighted means of CPU use and lags, and the maximum memory, over the added seconds. */
const createUse = () => {
  const sums = new Map<Mean, { readonly sum: number; readonly weights: number }>();
  const most = new Map<"k6MemoryMiB" | "collectorMemoryMiB", number>();
  let seconds = 0;
  const add = (key: Mean, value: number | undefined, weight: number): void => {
    if (value === undefined) return;
    const { sum, weights } = sums.get(key) ?? { sum: 0, weights: 0 };
    sums.set(key, { sum: sum + value * weight, weights: weights + weight });
  };
  return {
    add: ({ k6, collector, machineIdle }: ClosedSecond["line"], weight = 1, lateMs?: number): void => {
      seconds += 1;
      add("k6Cores", k6?.cores, weight);
      add("collectorCores", collector?.cores, weight);
      add("collectorLagMs", collector?.lagMs, weight);
      add("machineIdle", machineIdle, weight);
      add("lateMs", lateMs, weight);
      for (const [key, use] of [["k6MemoryMiB", k6] as const, ["collectorMemoryMiB", collector] as const])
        if (use !== undefined) most.set(key, Math.max(most.get(key) ?? 0, use.memoryMiB));
    },
    seconds: () => seconds,
    means: <Key extends Mean>(...keys: readonly Key[]): { readonly [Each in Key]?: number } =>
      Object.fromEntries(
        keys.flatMap((key) => {
          const found = sums.get(key);
          return found === undefined ? [] : [[key, found.sum / found.weights]];
        }),
      ) as { readonly [Each in Key]?: number },
    most: () => Object.fromEntries(most),
  };
};

/** How many iterations were missing in a second in which k6 dropped some, or started clearly fewer than requested. */
const lackedIn = ({ dropped, started, asked }: ClosedSecond["line"]): number =>
  dropped > 0 || started < STARTED_SHARE * asked - 1 ? Math.max(dropped, asked - started) : 0;
const STARTED_SHARE = 0.9;

/** Minimum lag of the latest 1 % of a second's iterations. */
const lateIn = ({ lag }: ClosedSecond): number | undefined =>
  lag === undefined || lag.totalCount === 0 ? undefined : latenciesOf(lag).p99Ms;

const shortfallOf = (use: ReturnType<typeof createUse>): { readonly shortfall?: Shortfall } => {
  const seconds = use.seconds();
  if (seconds === 0) return {};
  return { shortfall: { seconds, ...use.means("machineIdle", "k6Cores", "collectorLagMs", "lateMs") } };
};

/** Twice the number that objectives use, so that enough remain after halving. */
const MOST = 120;

/**
 * Keeps the distributions of a run's seconds in bounded memory: when there are too many blocks of time, neighbours are
 * merged, and blocks become twice as long.
 */
export const createBlocks = () => {
  let blocks: Counted[] = [];
  let length = 1;
  let open: Counted | undefined;
  let held = 0;
  return {
    add: (second: Counted): void => {
      open = open === undefined ? second : mergeCounted([open, second]);
      held += 1;
      if (held < length) return;
      blocks.push(open);
      [open, held] = [undefined, 0];
      if (blocks.length < MOST) return;
      blocks = inGroups(blocks, 2).map(mergeCounted);
      length *= 2;
    },
    all: (): readonly Counted[] => [...blocks, ...(open === undefined ? [] : [open])],
  };
};
