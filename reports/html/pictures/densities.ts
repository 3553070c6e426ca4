import { area, curveBasis } from "d3-shape";
import type { VNode } from "preact";
import type { PictureOf } from "../../document/pictures.ts";
import { latency } from "../../text/figures.ts";
import { plot } from "../chart.ts";
import { el } from "../element.ts";
import { latencyScale } from "../scales.ts";

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
