import type { VNode } from "preact";
import { axisText, type Tick, percent, upright, changeScale, limitScale } from "../chart.ts";
import { el, type Child } from "../element.ts";
import type { Lane, PictureOf, Range } from "../../document/pictures.ts";

const ROW_PX = 32;
const BAR_PX = 8;

interface Scale {
  readonly at: (value: number) => number;
}

export const lanes = ({ axis, label, lanes: all }: PictureOf<"lanes">): VNode => {
  const values = all.flatMap(({ band, interval, dot }) => [
    ...(band === undefined ? [] : band.range),
    ...(interval ?? []),
    ...(dot === undefined ? [] : [dot]),
  ]);
  const scale = scaleOf(axis, values);
  const line = axis === "change" ? "no-change" : "limit-line";
  return laneGroup({
    label,
    className: axis === "limit" ? " forest limits" : " forest",
    ticks: scale.ticks,
    rows: all.map((lane) => ({
      name: [el("b", `${lane.name} `), el("span.soft", lane.said)],
      label: lane.label,
      heightPx: ROW_PX,
      drawing: [upright(line, scale.at(1), 0, ROW_PX), shapes(lane, scale, axis)],
    })),
  });
};

const scaleOf = (axis: PictureOf<"lanes">["axis"], values: readonly number[]) =>
  axis === "change" ? changeScale(values, 1, 99) : limitScale(Math.max(...values), 1, 99);

const shapes = (
  { band, interval, lines = [], dot, verdict }: Lane,
  scale: Scale,
  axis: PictureOf<"lanes">["axis"],
): Child => {
  const suffix = verdict === undefined ? "" : ` ${verdict}`;
  return [
    band && bar(scale, band.range, `${band.look}-band`, bandHeights[band.look]),
    ...lines.map(([look, value]) => upright(`${look}-line`, scale.at(value), 0, ROW_PX)),
    interval &&
      (axis === "limit" ? whisker(scale, interval) : bar(scale, interval, `interval${suffix}`, BAR_PX)),
    dot !== undefined &&
      el("circle", { class: `change-dot${suffix}`, cx: percent(scale.at(dot)), cy: ROW_PX / 2, r: 6 }),
  ];
};

/** An interval as a line with caps. */
const whisker = (scale: Scale, [low, high]: Range): readonly VNode[] => [
  el("line.whisker", {
    x1: percent(scale.at(low)),
    x2: percent(scale.at(high)),
    y1: ROW_PX / 2,
    y2: ROW_PX / 2,
  }),
  ...[low, high].map((end) => upright("whisker", scale.at(end), ROW_PX / 2 - 6, ROW_PX / 2 + 6)),
];

const bandHeights = { floor: ROW_PX, limit: ROW_PX - 16 } as const;

/** A bar in the middle of the lane. */
const bar = (scale: Scale, [low, high]: Range, className: string, height: number): VNode =>
  el("rect", {
    class: className,
    x: percent(scale.at(low)),
    width: percent(Math.max(0.3, scale.at(high) - scale.at(low))),
    y: (ROW_PX - height) / 2,
    height,
    rx: 2,
  });

export interface LaneRow {
  readonly name: Child;
  readonly label: string;
  readonly heightPx: number;
  readonly drawing: Child;
  readonly className?: string;
}

export const laneGroup = (options: {
  readonly label: string;
  readonly rows: readonly LaneRow[];
  readonly ticks: readonly Tick[];
  readonly className?: string;
}): VNode =>
  el(
    "div",
    { class: `lanes${options.className ?? ""}`, role: "group", "aria-label": options.label },
    options.rows.map(({ name, label, heightPx, drawing, className = "" }) =>
      el(
        "div",
        { class: `lane${className}` },
        el("div.lane-name", name),
        el("svg.strip", { height: heightPx, role: "img", "aria-label": label }, drawing),
      ),
    ),
    el(
      "div.lane.foot",
      el("div"),
      el("svg.strip", { height: 24, "aria-hidden": "true" }, axisText(options.ticks, 0, true)),
    ),
  );
