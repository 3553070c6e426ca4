import { line } from "d3-shape";
import type { VNode } from "preact";
import type { PictureOf } from "../../document/pictures.ts";
import { rowsUpTo, type LatencyPoint } from "../../gather/heat.ts";
import { plot, round } from "../chart.ts";
import { el } from "../element.ts";
import { latencyScale, timeScale } from "../scales.ts";

const HEIGHT_PX = 170;

/** Shades are logarithmic, so that a single slow request shows beside thousands of quick ones. */
const SHADES = 6;

interface Scales {
  readonly y: ReturnType<typeof latencyScale>;
  readonly time: ReturnType<typeof timeScale>;
}

export const latencyPicture = ({
  label,
  points,
  bucketSeconds,
  seconds,
  rangeMs,
}: PictureOf<"latency">): VNode => {
  const scales = { y: latencyScale(...rangeMs, HEIGHT_PX, 2), time: timeScale(seconds) };
  const at = ({ second }: LatencyPoint): number => scales.time.at(second + bucketSeconds / 2);
  const along = (of: (point: LatencyPoint) => number): string =>
    line<LatencyPoint>(at, (point) => scales.y.at(of(point))).digits(2)([...points]) ?? "";
  const median = along((point) => point.p50Ms);
  return plot({
    label,
    heightPx: HEIGHT_PX,
    x: scales.time.ticks,
    y: scales.y.ticks,
    rows: points.map(at),
    seconds,
    shapes: [
      heat(points, bucketSeconds, scales),
      el("path.line-p99", { d: along((point) => point.p99Ms) }),
      el("path.line-p95", { d: along((point) => point.p95Ms) }),
      el("path.halo", { d: median }),
      el("path.line-p50", { d: median }),
      // Zero-length strokes with round ends: dots that stay round at any page width.
      el("path.dots-max", {
        d: points.map((point) => `M${round(at(point))},${round(scales.y.at(point.maxMs))}h0`).join(""),
      }),
    ],
  });
};

/** One path per shade, on whole columns and rows, because a page may hold many thousands of cells. */
const heat = (points: readonly LatencyPoint[], bucketSeconds: number, { y, time }: Scales): VNode => {
  const most = points.reduce(
    (high, { rows }) => rows.reduce((one, [, count]) => Math.max(one, count), high),
    1,
  );
  const shades = Array.from({ length: SHADES }, () => "");
  for (const { second, rows } of points)
    for (const [row, count] of rows) {
      // Divides first, so that the share of the maximum is exactly 1.
      const shade = Math.ceil(SHADES * (Math.log1p(count) / Math.log1p(most))) - 1;
      shades[shade] += `M${round(second / bucketSeconds)} ${row}h1v1h-1z`;
    }
  const [low, high] = y.domain;
  const rowPx = (y.at(low) - y.at(high)) / (rowsUpTo(high) - rowsUpTo(low));
  const bottomPx = y.at(low) + rowsUpTo(low) * rowPx;
  return el(
    "g.heat",
    {
      transform: `translate(0 ${bottomPx}) scale(${time.at(bucketSeconds)} ${-rowPx})`,
    },
    shades.map((d, at) => d !== "" && el("path", { class: `heat-${at + 1}`, d })),
  );
};
