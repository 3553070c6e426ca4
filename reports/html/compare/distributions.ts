import { area, curveBasis } from "d3-shape";
import type { VNode } from "preact";
import type { Densities } from "../../compare/densities.ts";
import { latency, percent as share } from "../../text/latency.ts";
import { plot } from "../chart.ts";
import { el } from "../element.ts";
import { figure, table } from "../parts.ts";
import { latencyScale } from "../scales.ts";

const HEIGHT_PX = 120;

/** Both distributions of each endpoint, one over the other on one logarithmic axis. */
export const distributions = (all: readonly Densities[]): readonly VNode[] => all.map(distribution);

const distribution = (one: Densities): VNode => {
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
  return figure({
    title: `Latencies of ${endpoint}`,
    note: "Shares of all requests over latency; the axis is logarithmic. The slowest in a thousand are gathered at the right end.",
    legend: [
      ["base", "base"],
      ["head", "head"],
    ],
    picture: plot({
      label: `Latencies of ${endpoint}: the base has most of its requests at ${latency(modeOf(base, edgesMs))}, the head at ${latency(modeOf(head, edgesMs))}.`,
      heightPx: HEIGHT_PX,
      x: x.ticks,
      y: [],
      shapes: [
        el("path", { class: "base-hill", d: hill(base) }),
        el("path", { class: "head-hill", d: hill(head) }),
      ],
    }),
    table: table(
      `Latencies of ${endpoint}`,
      ["From", "To", "Base", "Head"],
      base.map((part, at) => [
        latency(edgesMs[at] ?? 0),
        at === base.length - 1 ? "and more" : latency(edgesMs[at + 1] ?? 0),
        share(part),
        share(head[at] ?? 0),
      ]),
      [0, 1, 2, 3],
    ),
  });
};

/** The middle of the bucket with the most requests. */
const modeOf = (shares: readonly number[], edgesMs: readonly number[]): number => {
  const at = shares.indexOf(Math.max(...shares));
  return Math.sqrt((edgesMs[at] ?? 0) * (edgesMs[at + 1] ?? 0));
};
