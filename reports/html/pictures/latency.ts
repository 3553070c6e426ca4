import { area, line } from "d3-shape";
import type { VNode } from "preact";
import type { LatencyPicture } from "../../document/pictures.ts";
import type { LatencyPoint } from "../../gather/course.ts";
import { plot, round } from "../chart.ts";
import { el } from "../element.ts";
import { latencyScale, timeScale } from "../scales.ts";

const HEIGHT_PX = 150;

interface Scales {
  readonly y: ReturnType<typeof latencyScale>;
  readonly time: ReturnType<typeof timeScale>;
}

/** Latencies of one endpoint over time; all endpoints of a run have the same axes. */
export const latencyPicture = ({ label, points, bucketSeconds, seconds, rangeMs }: LatencyPicture): VNode => {
  const scales = {
    y: latencyScale(rangeMs[0] * 0.8, rangeMs[1] * 1.15, HEIGHT_PX, 8),
    time: timeScale(seconds),
  };
  return plot({
    label,
    heightPx: HEIGHT_PX,
    x: scales.time.ticks,
    y: scales.y.ticks,
    shapes: shapes(points, bucketSeconds, scales),
  });
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
