import { area, line } from "d3-shape";
import type { VNode } from "preact";
import { figure as number } from "../../text/figures.ts";
import { plot, round } from "../chart.ts";
import { el } from "../element.ts";
import type { EndpointCourse, LatencyPoint } from "../gather/course.ts";
import type { LoadView } from "../gather/view.ts";
import { figure, table } from "../parts.ts";
import { latencyScale, timeScale } from "../scales.ts";
import { latency } from "../../text/latency.ts";

const HEIGHT_PX = 150;

/** Latency over time, one picture for each endpoint and all on the same axis. */
export const latencyFigures = ({ course }: LoadView): readonly VNode[] => {
  const points = course.endpoints.flatMap(({ points }) => points);
  if (points.length === 0) return [];
  const [low, high] = [
    points.reduce((least, { p50Ms }) => Math.min(least, p50Ms), Infinity),
    points.reduce((most, { maxMs }) => Math.max(most, maxMs), 0),
  ];
  const y = latencyScale(low * 0.8, high * 1.15, HEIGHT_PX, 8);
  const time = timeScale(course.seconds);
  return course.endpoints.map((endpoint) => endpointFigure(endpoint, course.bucketSeconds, { y, time }));
};

interface Scales {
  readonly y: ReturnType<typeof latencyScale>;
  readonly time: ReturnType<typeof timeScale>;
}

const endpointFigure = (
  { endpoint, outcome, points }: EndpointCourse,
  bucketSeconds: number,
  scales: Scales,
): VNode => {
  const title = `Latency of ${endpoint}${outcome === "granted" ? "" : ` (${outcome} requests)`}`;
  return figure({
    title,
    legend: [
      ["p50", "median"],
      ["p95", "to p95"],
      ["p99", "to p99"],
      ["max", "slowest"],
    ],
    picture: plot({
      label: `${title} over time, on a logarithmic axis: ${spoken(points)}`,
      heightPx: HEIGHT_PX,
      x: scales.time.ticks,
      y: scales.y.ticks,
      shapes: shapes(points, bucketSeconds, scales),
    }),
    table: table(
      `${title} over time, in milliseconds`,
      ["From second", "Requests", "p50", "p95", "p99", "Slowest"],
      points.map(({ second, count, p50Ms, p95Ms, p99Ms, maxMs }) => [
        String(second),
        number(count),
        ...[p50Ms, p95Ms, p99Ms, maxMs].map((ms) => ms.toFixed(2)),
      ]),
      [0, 1, 2, 3, 4, 5],
    ),
  });
};

const spoken = (points: readonly LatencyPoint[]): string => {
  const range = (of: (point: LatencyPoint) => number): string => {
    const values = points.map(of);
    return `${latency(Math.min(...values))} to ${latency(Math.max(...values))}`;
  };
  return `the median ${range(({ p50Ms }) => p50Ms)}, the 99th percentile ${range(({ p99Ms }) => p99Ms)}.`;
};

const shapes = (
  points: readonly LatencyPoint[],
  bucketSeconds: number,
  { y, time }: Scales,
): readonly VNode[] => {
  const at = ({ second }: LatencyPoint): number => time.at(second + bucketSeconds / 2);
  const between = (low: (point: LatencyPoint) => number, high: (point: LatencyPoint) => number): string =>
    area<LatencyPoint>(
      at,
      (point) => y.at(low(point)),
      (point) => y.at(high(point)),
    ).digits(2)([...points]) ?? "";
  const along = (of: (point: LatencyPoint) => number): string =>
    line<LatencyPoint>(at, (point) => y.at(of(point))).digits(2)([...points]) ?? "";
  return [
    el("path", {
      class: "area-p99",
      d: between(
        (point) => point.p95Ms,
        (point) => point.p99Ms,
      ),
    }),
    el("path", {
      class: "area-p95",
      d: between(
        (point) => point.p50Ms,
        (point) => point.p95Ms,
      ),
    }),
    el("path", { class: "line-p99", d: along((point) => point.p99Ms) }),
    el("path", { class: "line-p95", d: along((point) => point.p95Ms) }),
    el("path", { class: "line-p50", d: along((point) => point.p50Ms) }),
    // Strokes of no length with round ends: dots that stay round however wide the page is.
    el("path", {
      class: "dots-max",
      d: points.map((point) => `M${round(at(point))},${round(y.at(point.maxMs))}h0`).join(""),
    }),
  ];
};
