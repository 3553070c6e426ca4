import { bisector } from "d3-array";
import { area, curveBasis } from "d3-shape";
import type { VNode } from "preact";
import { msAt } from "../../document/load-course.ts";
import type { PictureOf } from "../../document/pictures.ts";
import type { EndpointCourse } from "../../gather/course.ts";
import { latency } from "../../text/figures.ts";
import { round, stretched, upright, latencyScale } from "../chart.ts";
import { el } from "../element.ts";
import { laneGroup, type LaneRow } from "./lanes.ts";

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
