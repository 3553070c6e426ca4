import { build, type JsHistogram as Histogram } from "hdr-histogram-js";
import {
  histogramUnit,
  type LatencyKind,
  type SampleOutcome,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import type { LoadRun } from "../read/index.ts";
import { countedOf, quantileOf, type Counted } from "../../conformance/contract/distribution.ts";
import { addedUp, requestsIn } from "../../conformance/contract/second-counts.ts";

/** Latencies of some seconds: percentiles, and the number of requests in each row of the heat map. */
export interface LatencyPoint {
  readonly second: number;
  readonly rows: readonly (readonly [row: number, count: number])[];
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Rows of the heat map per factor of ten, from 0.01 ms up. */
const ROWS_PER_DECADE = 8;
const LEAST_DECADE = -2;
export const HEAT_ROWS = 56;

/** Position of a latency in rows, with its fraction. */
export const rowsUpTo = (ms: number): number =>
  (Math.log10(Math.max(ms, 1e-9)) - LEAST_DECADE) * ROWS_PER_DECADE;

export const rowOf = (ms: number): number => Math.min(HEAT_ROWS - 1, Math.max(0, Math.floor(rowsUpTo(ms))));

export const msOf = (row: number): number => 10 ** (row / ROWS_PER_DECADE + LEAST_DECADE);

const heatRows = ({ values, counts }: Counted): LatencyPoint["rows"] => {
  const rows = new Map<number, number>();
  values.forEach((ms, at) => {
    const row = rowOf(ms);
    rows.set(row, (rows.get(row) ?? 0) + (counts[at] ?? 0));
  });
  return [...rows];
};

/** Events within some seconds of the load; counts are totals over these seconds. */
export interface Bucket {
  readonly second: number;
  readonly seconds: number;
  /** Requests that the load asked for: iterations times what one sends on average. */
  readonly asked: number;
  /** Iterations that started. */
  readonly started: number;
  readonly dropped: number;
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /** Failed requests, by endpoint and cause. */
  readonly causes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly breaches: Readonly<Record<string, number>>;
}

export const perSecond = (count: number, { seconds }: Bucket): number =>
  seconds === 0 ? 0 : count / seconds;

/** The number of buckets that fit in a picture. */
const MOST_BUCKETS = 240;

const bucketsOf = (
  lines: readonly SecondLine[],
  { rate, arrivalRate }: Pick<LoadRun["record"], "rate" | "arrivalRate">,
  bucketSeconds: number,
): readonly Bucket[] =>
  [...Map.groupBy(lines, ({ second }) => Math.floor(second / bucketSeconds))]
    .toSorted(([a], [b]) => a - b)
    .map(([at, group]) => bucketOf(at * bucketSeconds, group, rate / arrivalRate));

const bucketOf = (second: number, lines: readonly SecondLine[], perIteration: number): Bucket => {
  const sum = (of: (line: SecondLine) => number): number =>
    lines.reduce((total, line) => total + of(line), 0);
  const { refused, failed, all: requests } = requestsIn(lines);
  return {
    second,
    // A second may have several lines: in a search, answers that arrive after the end of a step.
    seconds: new Set(lines.map((line) => line.second)).size,
    asked: sum((line) => line.asked) * perIteration,
    started: sum((line) => line.started),
    dropped: sum((line) => line.dropped),
    requests,
    refused,
    failed,
    causes: causesIn(lines),
    breaches: addedUp(lines.map(({ breaches }) => breaches)),
  };
};

const causesIn = (lines: readonly SecondLine[]): Bucket["causes"] => {
  const sums: Record<string, Readonly<Record<string, number>>> = {};
  for (const { requests } of lines)
    for (const [endpoint, { causes }] of Object.entries(requests))
      if (causes !== undefined) sums[endpoint] = addedUp([sums[endpoint] ?? {}, causes]);
  return sums;
};

/** Latency of an endpoint's granted requests (or of the refused ones if none was granted), over time and overall. */
export interface EndpointCourse {
  readonly endpoint: string;
  readonly outcome: SampleOutcome;
  readonly points: readonly LatencyPoint[];
  readonly quantiles: readonly { readonly share: number; readonly ms: number }[];
}

export interface Course {
  readonly bucketSeconds: number;
  readonly seconds: number;
  readonly buckets: readonly Bucket[];
  readonly endpoints: readonly EndpointCourse[];
  /**
   * Histograms that arrived after their bucket was closed: counted in the distributions, not in the lines over time.
   */
  readonly late: number;
}

/** The latency that a late load generator cannot flatter. */
const DRAWN: LatencyKind = "response";

const histogram = (): Histogram =>
  build({
    bitBucketSize: 32,
    autoResize: true,
    lowestDiscernibleValue: 1,
    highestTrackableValue: 2_000_000,
    numberOfSignificantValueDigits: histogramUnit.significantDigits,
  }) as Histogram;

const atPercentile = (one: Histogram, percentile: number): number =>
  one.getValueAtPercentile(percentile) / histogramUnit.perMs;

type SecondHistogram = ReturnType<LoadRun["histograms"]> extends AsyncGenerator<infer T> ? T : never;

export const courseOf = async (run: LoadRun): Promise<Course> => {
  const lines = await Array.fromAsync(run.seconds());
  const last = lines.reduce((most, { second }) => Math.max(most, second + 1), 0);
  const total = Math.max(1, last, Math.ceil(run.record.durationMs / 1_000));
  const bucketSeconds = bucketOfSeconds(lines, total);
  const warmUpSeconds = run.record.warmUpMs / 1_000;
  const series = new Map<string, Series>();
  let late = 0;
  for await (const line of run.histograms({ kind: DRAWN })) {
    if (line.outcome === "failed") continue;
    const key = `${line.endpoint};${line.outcome}`;
    const one = series.get(key) ?? startSeries(line, warmUpSeconds);
    series.set(key, one);
    if (!one.add(line.second, Math.floor(line.second / bucketSeconds) * bucketSeconds, line.histogram))
      late += 1;
  }
  const all = [...series.values()].map((one) => one.end());
  return {
    bucketSeconds,
    seconds: total,
    buckets: bucketsOf(lines, run.record, bucketSeconds),
    endpoints: all.filter(
      ({ endpoint, outcome }) =>
        outcome === "granted" ||
        !all.some((other) => other.endpoint === endpoint && other.outcome === "granted"),
    ),
    late,
  };
};

/**
 * A percentile of few requests says little: buckets are sized for about this many requests of every endpoint, if enough
 * buckets remain.
 */
const ENOUGH_REQUESTS = 30;
const LEAST_BUCKETS = 20;

const bucketOfSeconds = (lines: readonly SecondLine[], total: number): number => {
  const counts = new Map<string, number>();
  for (const { requests } of lines)
    for (const [endpoint, { granted, refused }] of Object.entries(requests))
      counts.set(endpoint, (counts.get(endpoint) ?? 0) + granted + refused);
  const least = Math.min(...[...counts.values()].filter((count) => count > 0));
  const wished = Math.min((ENOUGH_REQUESTS * total) / least, total / LEAST_BUCKETS);
  return Math.max(1, Math.ceil(total / MOST_BUCKETS), Math.floor(wished));
};

interface Series {
  /** Adds a second's latencies to the bucket starting at `bucket`. False if that bucket was already closed. */
  add(second: number, bucket: number, part: Histogram): boolean;
  end(): EndpointCourse;
}

/** Lines over time show everything; the distribution, like objectives, leaves out the warm-up. */
const startSeries = ({ endpoint, outcome }: SecondHistogram, warmUpSeconds: number): Series => {
  const whole = histogram();
  const points: LatencyPoint[] = [];
  let open: { readonly second: number; readonly sum: Histogram } | undefined;
  const close = (): void => {
    if (open !== undefined) points.push(pointOf(open.second, countedOf(open.sum, histogramUnit.perMs)));
    open = undefined;
  };
  return {
    add: (second, bucket, part) => {
      if (second >= warmUpSeconds) whole.add(part);
      if (open !== undefined && bucket < open.second) return false;
      if (open?.second !== bucket) {
        close();
        open = { second: bucket, sum: histogram() };
      }
      open.sum.add(part);
      return true;
    },
    end: () => {
      close();
      return { endpoint, outcome, points, quantiles: quantilesOf(whole) };
    },
  };
};

const pointOf = (second: number, counted: Counted): LatencyPoint => ({
  second,
  count: counted.total,
  p50Ms: quantileOf(counted, 0.5),
  p95Ms: quantileOf(counted, 0.95),
  p99Ms: quantileOf(counted, 0.99),
  maxMs: quantileOf(counted, 1),
  rows: heatRows(counted),
});

const STEPS = 200;

/** Evenly spaced over the bulk of the distribution, finely at both ends. */
const shares = [
  0,
  0.000_1,
  0.001,
  ...Array.from({ length: STEPS - 1 }, (_, at) => (at + 1) / STEPS),
  0.997,
  0.999,
  0.999_5,
  0.999_9,
  1,
];

const quantilesOf = (whole: Histogram): EndpointCourse["quantiles"] =>
  shares.map((share) => ({
    share,
    ms: share === 0 ? whole.minNonZeroValue / histogramUnit.perMs : atPercentile(whole, share * 100),
  }));
