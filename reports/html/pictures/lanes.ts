import type { VNode } from "preact";
import type { Lane, LanesPicture, Range } from "../../document/pictures.ts";
import { changeScale } from "../change-scale.ts";
import { percent } from "../chart.ts";
import { el, type Child } from "../element.ts";
import { latencyScale } from "../scales.ts";
import { laneGroup } from "./lane.ts";

const ROW_PX = 32;
const BAR_PX = 8;

interface Scale {
  readonly at: (value: number) => number;
}

export const lanes = ({ axis, label, lanes: all }: LanesPicture): VNode => {
  const values = all.flatMap(({ band, interval, dot }) => [
    ...(band === undefined ? [] : axis === "change" ? [band.range[1]] : band.range),
    ...(interval ?? []),
    ...(dot === undefined ? [] : [dot]),
  ]);
  const scale =
    axis === "change"
      ? changeScale(values, 1, 99)
      : latencyScale(Math.min(...values) * 0.9, Math.max(...values) * 1.1, 1, 99);
  return laneGroup({
    label,
    className: " forest",
    ticks: scale.ticks,
    rows: all.map((lane) => ({
      name: [el("b", `${lane.name} `), el("span.soft", lane.said)],
      label: lane.label,
      heightPx: ROW_PX,
      drawing: [axis === "change" && upright(scale, 1, "no-change"), shapes(lane, scale)],
    })),
  });
};

const shapes = ({ band, interval, lines = [], dot, verdict }: Lane, scale: Scale): Child => {
  const suffix = verdict === undefined ? "" : ` ${verdict}`;
  return [
    band && bar(scale, band.range, `${band.look}-band`, bandBox[band.look]),
    ...lines.map(([look, value]) => upright(scale, value, `${look}-line`)),
    interval && bar(scale, interval, `interval${suffix}`, { top: (ROW_PX - BAR_PX) / 2, height: BAR_PX }),
    dot !== undefined &&
      el("circle", { class: `change-dot${suffix}`, cx: percent(scale.at(dot)), cy: ROW_PX / 2, r: 6 }),
  ];
};

interface Box {
  readonly top: number;
  readonly height: number;
}

const bandBox: Readonly<Record<"floor" | "limit", Box>> = {
  floor: { top: 0, height: ROW_PX },
  limit: { top: 8, height: ROW_PX - 16 },
};

const bar = (scale: Scale, [low, high]: Range, className: string, { top, height }: Box): VNode =>
  el("rect", {
    class: className,
    x: percent(scale.at(low)),
    width: percent(Math.max(0.3, scale.at(high) - scale.at(low))),
    y: top,
    height,
    rx: 2,
  });

const upright = (scale: Scale, value: number, className: string): VNode =>
  el("line", {
    class: className,
    x1: percent(scale.at(value)),
    x2: percent(scale.at(value)),
    y1: 0,
    y2: ROW_PX,
  });
