import { breachesIn } from "../../../conformance/contract/second-counts.ts";
import { area, curveStepAfter, line } from "d3-shape";
import type { PictureOf } from "../../document/pictures.ts";
import { perSecond, type Bucket, rowsUpTo, type LatencyPoint } from "../../gather/course.ts";
import { plural, rate } from "../../text/figures.ts";
import { percent, plot, round, type Plot, timeScale, upScale, latencyScale } from "../chart.ts";
import { el, type Child } from "../element.ts";
import type { VNode } from "preact";

const RATE_PX = 150;
const ERRORS_PX = 56;
const RAIL_PX = 30;

type Time = ReturnType<typeof timeScale>;
/** What the plots, which share the axis of time, have of their own. */
type Part = Pick<Plot, "label" | "heightPx" | "y" | "shapes" | "marks">;

export const ratePicture = ({ buckets, seconds, warmUpSeconds }: PictureOf<"rate">): Child => {
  const time = timeScale(seconds);
  const along = {
    x: time.ticks,
    rows: buckets.map((one) => time.at(one.second + one.seconds / 2)),
    seconds,
  };
  const broken = buckets.filter(({ breaches }) => Object.keys(breaches).length > 0);
  const isBroken = broken.length > 0;
  const isFailing = buckets.some(({ failed, dropped }) => failed + dropped > 0);
  return [
    plot({ ...along, ...ratePart(buckets, time, warmUpSeconds), bare: isFailing || isBroken }),
    isFailing && plot({ ...along, ...errorPart(buckets, time), bare: isBroken }),
    isBroken && plot({ ...along, ...breachPart(broken, time) }),
  ];
};

const ratePart = (buckets: readonly Bucket[], time: Time, warmUpSeconds: number): Part => {
  const highest = Math.max(
    0,
    ...buckets.flatMap((one) => [perSecond(one.asked, one), perSecond(one.requests, one)]),
  );
  const y = upScale(highest * 1.08, RATE_PX, rate);
  const closed = closedBuckets(buckets);
  const at = ({ second }: Bucket): number => time.at(second);
  const achieved = area<Bucket>(at, RATE_PX, (one) => y.at(perSecond(one.requests, one)))
    .curve(curveStepAfter)
    .digits(2);
  const asked = line<Bucket>(at, (one) => y.at(perSecond(one.asked, one)))
    .curve(curveStepAfter)
    .digits(2);
  return {
    label: `Requests per second over time: at most ${rate(highest)} requested or achieved.`,
    heightPx: RATE_PX,
    y: y.ticks,
    shapes: [
      warmUpSeconds > 0 &&
        el("rect.warm-up", { x: 0, width: round(time.at(warmUpSeconds)), y: 0, height: RATE_PX }),
      el("path.achieved", { d: achieved(closed) ?? "" }),
      el("path.asked", { d: asked(closed) ?? "" }),
    ],
  };
};

/** Closes the last bucket at full length, because step lines need its end. */
const closedBuckets = (buckets: readonly Bucket[]): Bucket[] => {
  const last = buckets.at(-1);
  return last === undefined ? [] : [...buckets, { ...last, second: last.second + last.seconds }];
};

const errorPart = (buckets: readonly Bucket[], time: Time): Part => {
  const count = (one: Bucket): number => perSecond(one.failed + one.dropped, one);
  // At least a fiftieth of the requests, so that a few failures among many look few.
  const highest = Math.max(...buckets.map((one) => Math.max(count(one), perSecond(one.requests, one) / 50)));
  const y = upScale(highest, ERRORS_PX, rate);
  return {
    label: `Failed requests and dropped iterations per second: at most ${rate(Math.max(...buckets.map(count)))}.`,
    heightPx: ERRORS_PX,
    y: y.ticks.slice(-1),
    shapes: buckets
      .filter((one) => count(one) > 0)
      .map((one) =>
        el("rect.failed", {
          x: round(time.at(one.second)),
          width: Math.max(0.15, round(time.at(one.second + one.seconds) - time.at(one.second))),
          y: round(y.at(count(one))),
          height: round(ERRORS_PX - y.at(count(one))),
        }),
      ),
  };
};

const breachPart = (broken: readonly Bucket[], time: Time): Part => ({
  label: `${plural(breachesIn(broken), "breach", "breaches")}, the first in second ${broken[0]?.second ?? 0}.`,
  heightPx: RAIL_PX,
  y: [],
  shapes: undefined,
  marks: broken.map(({ second, seconds }) =>
    el(
      "svg.broken",
      { x: percent(time.at(second + seconds / 2)), y: 0, overflow: "visible" },
      el("use", { href: "#icon-cross", x: -8, y: RAIL_PX - 20, width: 16, height: 16 }),
    ),
  ),
});

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
