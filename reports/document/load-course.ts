import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import {
  perSecond,
  type Bucket,
  type Course,
  type EndpointCourse,
  msOf,
  type LatencyPoint,
} from "../gather/course.ts";
import { figure as number, plural, latency, sparkline, rate } from "../text/figures.ts";
import { figure, link, softText, table, type Block, type Figure, type Text } from "./model.ts";

/** The number of values that fit on a line of text. */
const MOST_BRIEF = 60;

/** The card of a breach of the rule within the bucket, if the page has one. */
type FindBreach = (rule: string, bucket: Bucket) => string | undefined;

export const courseBlocks = (
  course: Course,
  record: LoadRecord,
  find: FindBreach,
): readonly (Block | false)[] => [
  course.buckets.length > 0 && rateFigure(course, record, find),
  ...latencyFigures(course),
  course.late > 0 &&
    softText(
      `${plural(course.late, "histogram")} arrived late: they count in the distributions below but not in the lines over time.`,
    ),
];

const rateFigure = ({ buckets, seconds }: Course, record: LoadRecord, find: FindBreach): Figure => {
  const isBroken = buckets.some(({ breaches }) => Object.keys(breaches).length > 0);
  const isFailing = buckets.some(({ failed, dropped }) => failed + dropped > 0);
  const asked = buckets.map((one) => perSecond(one.asked, one));
  const started = buckets.map((one) => perSecond(one.started, one));
  const highest = Math.max(...asked, ...started);
  const rows = table(
    "Requested and achieved rate per second",
    [
      ">From second",
      ">Asked",
      ">Started",
      ">Dropped",
      ">Requests",
      ">Refused as intended",
      ">Failed",
      "Breaches",
    ],
    buckets.map((bucket) => [
      String(bucket.second),
      rate(perSecond(bucket.asked, bucket)),
      rate(perSecond(bucket.started, bucket)),
      number(bucket.dropped),
      number(bucket.requests),
      number(bucket.refused),
      number(bucket.failed),
      Object.entries(bucket.breaches).map(([rule, count], at): Text => {
        const [id, said] = [find(rule, bucket), `${rule} ${count}`];
        return [at === 0 ? "" : ", ", id === undefined ? said : link(id, said)];
      }),
    ]),
  );
  return figure({
    title: "Requested and achieved rate",
    note: "Iterations per second.",
    drawn: "The warm-up is shaded.",
    legend: [
      ["asked", "asked"],
      ["achieved", "started"],
      isFailing && ["failed", "failed requests and dropped iterations"],
      isBroken && ["broken", "a promise was broken"],
    ],
    picture: {
      is: "rate",
      seconds,
      buckets,
      warmUpSeconds: record.warmUpMs / 1_000,
    },
    brief: [
      `asked    ${sparkline(thinned(asked), MOST_BRIEF, highest)}  at most ${rate(Math.max(...asked))}`,
      `started  ${sparkline(thinned(started), MOST_BRIEF, highest)}  at most ${rate(Math.max(...started))}`,
    ],
    table: rows,
  });
};

const thinned = (values: readonly number[]): readonly number[] =>
  values.length <= MOST_BRIEF
    ? values
    : Array.from(
        { length: MOST_BRIEF },
        (_, at) => values[Math.floor((at * values.length) / MOST_BRIEF)] ?? 0,
      );

const latencyFigures = ({ endpoints, bucketSeconds, seconds }: Course): readonly Figure[] => {
  const points = endpoints.flatMap((one) => one.points);
  const rows = new Set(points.flatMap((point) => point.rows.map(([row]) => row)));
  const rangeMs: Axes["rangeMs"] = [msOf(Math.min(...rows)), msOf(Math.max(...rows) + 1)];
  return points.length === 0
    ? []
    : endpoints.map((endpoint) => latencyFigure(endpoint, { bucketSeconds, seconds, rangeMs }));
};

interface Axes {
  readonly bucketSeconds: number;
  readonly seconds: number;
  readonly rangeMs: readonly [number, number];
}

const latencyFigure = ({ endpoint, outcome, points }: EndpointCourse, axes: Axes): Figure => {
  const title = `Latency of ${endpoint}${outcome === "granted" ? "" : ` (${outcome} requests)`}`;
  const rows = table(
    `${title} over time, in milliseconds`,
    [">From second", ">Requests", ">p50", ">p95", ">p99", ">Slowest"],
    points.map(({ second, count, p50Ms, p95Ms, p99Ms, maxMs }) => [
      String(second),
      number(count),
      ...[p50Ms, p95Ms, p99Ms, maxMs].map((ms) => ms.toFixed(2)),
    ]),
  );
  return figure({
    title,
    legend: [
      ["heat", "requests (a stronger colour means more)"],
      ["p50", "p50"],
      ["p95", "p95"],
      ["p99", "p99"],
      ["max", "slowest"],
    ],
    picture: {
      is: "latency",
      label: `${title} over time, on a logarithmic axis: the median ${rangeOf(points, "p50Ms")}, the 99th percentile ${rangeOf(points, "p99Ms")}.`,
      points,
      ...axes,
    },
    brief: (["p50Ms", "p99Ms"] as const).map(
      (name) =>
        `${name.slice(0, -2)}  ${sparkline(thinned(points.map((point) => point[name])), MOST_BRIEF)}  ${rangeOf(points, name)}`,
    ),
    table: rows,
  });
};

const rangeOf = (points: readonly LatencyPoint[], name: "p50Ms" | "p99Ms"): string => {
  const values = points.map((point) => point[name]);
  return `${latency(Math.min(...values))} to ${latency(Math.max(...values))}`;
};

const listed = [0, 0.5, 0.9, 0.95, 0.99, 0.999, 1] as const;

export const spreadFigure = ({ endpoints }: Course): Figure | undefined => {
  const measured = endpoints.filter(({ points }) => points.length > 0);
  const rows = table(
    "Latencies in milliseconds, measured from each request's scheduled start",
    ["Endpoint", ">Fastest", ">p50", ">p90", ">p95", ">p99", ">p99.9", ">Slowest"],
    measured.map((one) => [one.endpoint, ...listed.map((share) => msAt(one, share).toFixed(2))]),
  );
  return rows === undefined
    ? undefined
    : figure({
        title: "Latency distribution",
        note: "The warm-up is left out. Latency counts from the scheduled start of a request.",
        drawn: "Each curve is scaled to its own peak; the axis is logarithmic.",
        picture: { is: "spread", label: "Latency distribution", endpoints: measured },
        table: rows,
      });
};

export const msAt = ({ quantiles }: EndpointCourse, share: number): number =>
  quantiles.find((one) => one.share >= share)?.ms ?? 0;
