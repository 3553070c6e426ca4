import { bisector } from "d3-array";
import { area, curveBasis } from "d3-shape";
import type { VNode } from "preact";
import { msAt } from "../../document/load-course.ts";
import type { PictureOf } from "../../document/pictures.ts";
import type { EndpointCourse } from "../../gather/course.ts";
import { latency } from "../../text/figures.ts";
import { round, stretched, upright, latencyScale, plot } from "../chart.ts";
import { el } from "../element.ts";
import { laneGroup, type LaneRow } from "./lanes.ts";

const HEIGHT_PX = 120;

export const densities = ({ densities: one }: PictureOf<"densities">): VNode => {
  const { endpoint, edgesMs, base, head } = one;
  const [low, high] = [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 1];
  const x = latencyScale(low, high, 0, 100);
  const peak = Math.max(...base, ...head, Number.MIN_VALUE);
  const middles = base.map((_, at) => ({
    at,
    ms: Math.sqrt((edgesMs[at] ?? low) * (edgesMs[at + 1] ?? high)),
  }));
  const hill = (shares: readonly number[]): string =>
    area<(typeof middles)[number]>(
      ({ ms }) => x.at(ms),
      HEIGHT_PX,
      ({ at }) => HEIGHT_PX - ((shares[at] ?? 0) / peak) * (HEIGHT_PX - 8),
    )
      .curve(curveBasis)
      .digits(2)(middles) ?? "";
  return plot({
    label: `Latencies of ${endpoint}: the base has most of its requests at ${latency(modeOf(base, edgesMs))}, the head at ${latency(modeOf(head, edgesMs))}.`,
    heightPx: HEIGHT_PX,
    x: x.ticks,
    y: [],
    rows: middles.map(({ ms }) => x.at(ms)),
    shapes: [el("path.base-hill", { d: hill(base) }), el("path.head-hill", { d: hill(head) })],
  });
};

/** The middle of the bucket with the most requests. */
const modeOf = (shares: readonly number[], edgesMs: readonly number[]): number => {
  const at = shares.indexOf(Math.max(...shares));
  return Math.sqrt((edgesMs[at] ?? 0) * (edgesMs[at + 1] ?? 0));
};

const ROW_PX = 64;
const BINS = 90;
const marked = [0.5, 0.95, 0.99] as const;

export const spreadPicture = ({ label, endpoints }: PictureOf<"spread">): VNode => {
  const low = Math.min(...endpoints.map((one) => msAt(one, 0)));
  const high = Math.max(...endpoints.map((one) => msAt(one, 1)));
  const x = latencyScale(low * 0.9, high * 1.1, 0, 100);
  return laneGroup({
    label,
    className: " hills",
    rows: endpoints.map((endpoint) => row(endpoint, x)),
    ticks: x.ticks,
  });
};

const row = (endpoint: EndpointCourse, x: ReturnType<typeof latencyScale>): LaneRow => {
  const told = marked.map((share) => ({ share, ms: msAt(endpoint, share) }));
  const said = told.map(({ share, ms }) => `p${share * 100} ${latency(ms)}`);
  return {
    name: [el("b", endpoint.endpoint), el("span.soft", said.join(" · "))],
    label: `${endpoint.endpoint}: ${said.join(", ")}`,
    heightPx: ROW_PX,
    drawing: [
      stretched(ROW_PX, el("path.hill", { d: hill(endpoint, x) })),
      told.map(({ ms }, at) => upright(`at-p${at}`, x.at(ms), 8, ROW_PX)),
    ],
  };
};

/** The density over bins equally wide on the logarithmic axis, from the distribution's quantiles. */
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

/** The share of latencies below a value, interpolated linearly between quantiles on the logarithmic axis. */
const shareBelow = ({ quantiles }: EndpointCourse, ms: number): number => {
  const at = byMs.right(quantiles, ms);
  const [before, after] = [quantiles[at - 1], quantiles[at]];
  if (before === undefined) return 0;
  if (after === undefined) return 1;
  const way = Math.log(ms / before.ms) / Math.log(after.ms / before.ms);
  return before.share + (after.share - before.share) * way;
};
