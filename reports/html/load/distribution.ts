import { area, curveBasis } from "d3-shape";
import { bisector } from "d3-array";
import type { VNode } from "preact";
import { axisText, percent, round, stretched } from "../chart.ts";
import { el } from "../element.ts";
import type { EndpointCourse } from "../gather/course.ts";
import type { LoadView } from "../gather/view.ts";
import { figure, table } from "../parts.ts";
import { latencyScale } from "../scales.ts";
import { latency } from "../../text/latency.ts";

const ROW_PX = 64;
const BINS = 90;
/** Percentiles that are marked in the picture, as shares. */
const marked = [0.5, 0.95, 0.99] as const;
const listed = [0, 0.5, 0.9, 0.95, 0.99, 0.999, 1] as const;

/** How latencies are spread, one row for each endpoint, on one logarithmic axis. */
export const distributionFigure = ({ course }: LoadView): VNode | undefined => {
  const endpoints = course.endpoints.filter(({ points }) => points.length > 0);
  if (endpoints.length === 0) return undefined;
  const low = Math.min(...endpoints.map((one) => msAt(one, 0)));
  const high = Math.max(...endpoints.map((one) => msAt(one, 1)));
  const x = latencyScale(low * 0.9, high * 1.1, 0, 100);
  return figure({
    title: "How latencies are spread",
    note: "Each hill is as high as its own peak; the axis is logarithmic. The warm-up is left out. Latency counts from the moment at which a request was meant to start.",
    picture: el(
      "div",
      { class: "lanes hills", role: "group", "aria-label": "How latencies are spread" },
      endpoints.map((endpoint) => lane(endpoint, x)),
      el(
        "div",
        { class: "lane foot" },
        el("div", {}),
        el(
          "svg",
          { class: "strip", height: 24, "aria-hidden": "true" },
          axisText(
            x.ticks.filter(({ at }, index, all) => index === 0 || at - (all[index - 1]?.at ?? 0) > 8),
            0,
          ),
        ),
      ),
    ),
    table: table(
      "Latencies in milliseconds, from the moment at which a request was meant to start",
      ["Endpoint", "Fastest", "p50", "p90", "p95", "p99", "p99.9", "Slowest"],
      endpoints.map((one) => [one.endpoint, ...listed.map((share) => msAt(one, share).toFixed(2))]),
      [1, 2, 3, 4, 5, 6, 7],
    ),
  });
};

const msAt = ({ quantiles }: EndpointCourse, share: number): number =>
  quantiles.find((one) => one.share >= share)?.ms ?? 0;

const lane = (endpoint: EndpointCourse, x: ReturnType<typeof latencyScale>): VNode => {
  const told = marked.map((share) => ({ share, ms: msAt(endpoint, share) }));
  return el(
    "div",
    { class: "lane" },
    el(
      "div",
      { class: "lane-name" },
      el("b", {}, endpoint.endpoint),
      el(
        "span",
        { class: "soft" },
        told.map(({ share, ms }) => `p${share * 100} ${latency(ms)}`).join(" · "),
      ),
    ),
    el(
      "svg",
      {
        class: "strip",
        height: ROW_PX,
        role: "img",
        "aria-label": `${endpoint.endpoint}: ${told.map(({ share, ms }) => `p${share * 100} ${latency(ms)}`).join(", ")}`,
      },
      stretched(ROW_PX, el("path", { class: "hill", d: hill(endpoint, x) })),
      told.map(({ ms }, at) =>
        el("line", { class: `at-p${at}`, x1: percent(x.at(ms)), x2: percent(x.at(ms)), y1: 8, y2: ROW_PX }),
      ),
    ),
  );
};

/** The density over bins that are equally wide on the logarithmic axis, from the distribution's quantiles. */
const hill = (endpoint: EndpointCourse, x: ReturnType<typeof latencyScale>): string => {
  const [low, high] = x.domain;
  const edges = Array.from({ length: BINS + 1 }, (_, at) => low * (high / low) ** (at / BINS));
  const below = edges.map((ms) => shareBelow(endpoint, ms));
  const bins = below.slice(1).map((share, at) => ({ at, density: share - (below[at] ?? 0) }));
  const peak = Math.max(...bins.map(({ density }) => density), Number.MIN_VALUE);
  return (
    area<(typeof bins)[number]>(
      ({ at }) => round(((at + 0.5) / BINS) * 100),
      ROW_PX,
      ({ density }) => ROW_PX - (density / peak) * (ROW_PX - 10),
    )
      .curve(curveBasis)
      .digits(2)(bins) ?? ""
  );
};

const byMs = bisector(({ ms }: { readonly ms: number }) => ms);

/** The share of latencies below a value: straight lines between the quantiles, on the logarithmic axis. */
const shareBelow = ({ quantiles }: EndpointCourse, ms: number): number => {
  const at = byMs.right(quantiles, ms);
  const [before, after] = [quantiles[at - 1], quantiles[at]];
  if (before === undefined) return 0;
  if (after === undefined) return 1;
  const way = Math.log(ms / before.ms) / Math.log(after.ms / before.ms);
  return before.share + (after.share - before.share) * way;
};
