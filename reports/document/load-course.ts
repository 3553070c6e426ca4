import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import {
  perSecond,
  type Bucket,
  type Course,
  type EndpointCourse,
  msOf,
  type LatencyPoint,
} from "../gather/course.ts";
import { figure as number, plural, latency, percent, sparkline, rate } from "../text/figures.ts";
import { figure, link, softText, table, type Block, type Figure, type Table, type Text } from "./model.ts";

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
  const achieved = buckets.map((one) => perSecond(one.requests, one));
  const highest = Math.max(...asked, ...achieved);
  const rows = table(
    "Requested and achieved rate per second",
    [
      ">From second",
      ">Requested",
      ">Achieved",
      ">Refused as intended",
      ">Failed",
      ">Iterations",
      ">Dropped",
      "Breaches",
    ],
    buckets.map((bucket) => [
      String(bucket.second),
      ...[bucket.asked, bucket.requests, bucket.refused, bucket.failed, bucket.started, bucket.dropped].map(
        (count) => rate(perSecond(count, bucket)),
      ),
      Object.entries(bucket.breaches).map(([rule, count], at): Text => {
        const [id, said] = [find(rule, bucket), `${rule} ${count}`];
        return [at === 0 ? "" : ", ", id === undefined ? said : link(id, said)];
      }),
    ]),
  );
  return figure({
    title: "Requested and achieved rate",
    note: "Requests per second.",
    drawn: "The warm-up is shaded.",
    legend: [
      ["asked", "requested"],
      ["achieved", "achieved"],
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
      `requested ${sparkline(thinned(asked), MOST_BRIEF, highest)}  at most ${rate(Math.max(...asked))}`,
      `achieved  ${sparkline(thinned(achieved), MOST_BRIEF, highest)}  at most ${rate(Math.max(...achieved))}`,
    ],
    table: rows,
  });
};

/** The number of bars in a cell of a table. */
const MOST_IN_CELL = 20;

/** Why requests failed, by endpoint, the most frequent cause first. */
export const causesTable = ({ endpoints }: LoadRecord, course: Course | undefined): Table | undefined => {
  const sent = (name: string): number =>
    endpoints.reduce((sum, { endpoint, service }) => sum + (endpoint === name ? service.count : 0), 0);
  const rows = endpoints.flatMap(({ endpoint, causes = {} }) =>
    Object.entries(causes).map(([cause, count]) => ({ endpoint, cause, count })),
  );
  return table(
    "Failed requests by cause",
    ["Endpoint", "Cause", ">Requests", ">Share", course === undefined ? "" : "Over time"],
    rows
      .toSorted((a, b) => b.count - a.count)
      .map(({ endpoint, cause, count }) => [
        endpoint,
        cause,
        number(count),
        percent(count / sent(endpoint)),
        course === undefined ? "" : overTime(course, endpoint, cause),
      ]),
  );
};

const overTime = ({ buckets, bucketSeconds }: Course, endpoint: string, cause: string): string => {
  const counts = buckets.map(({ causes }) => causes[endpoint]?.[cause] ?? 0);
  const hit = buckets.filter((_, at) => (counts[at] ?? 0) > 0);
  const [first, last] = [hit[0], hit.at(-1)];
  if (first === undefined || last === undefined) return "";
  const bars = sparkline(thinned(counts, MOST_IN_CELL), MOST_IN_CELL);
  return `${bars} second ${first.second} to ${last.second + bucketSeconds}`;
};

/** Evenly spread values, of each stretch the greatest, at most this many. */
const thinned = (values: readonly number[], most = MOST_BRIEF): readonly number[] =>
  values.length <= most
    ? values
    : Array.from({ length: most }, (_, at) =>
        Math.max(
          ...values.slice(
            Math.floor((at * values.length) / most),
            Math.floor(((at + 1) * values.length) / most),
          ),
        ),
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

/** Only drawn: the figures are in the table of latencies. */
export const spreadFigure = ({ endpoints }: Course): Figure | undefined => {
  const measured = endpoints.filter(({ points }) => points.length > 0);
  return measured.length === 0
    ? undefined
    : figure({
        title: "Latency distribution",
        drawn:
          "The warm-up is left out. Latency counts from the scheduled start of a request. Each curve is scaled to its own peak; the axis is logarithmic.",
        picture: { is: "spread", label: "Latency distribution", endpoints: measured },
      });
};

export const msAt = ({ quantiles }: EndpointCourse, share: number): number =>
  quantiles.find((one) => one.share >= share)?.ms ?? 0;
