import type { VNode } from "preact";
import { el, type Child } from "./element.ts";

/** A mark on an axis: its position (percent of the width, or pixels from the top) and its label. */
export interface Tick {
  readonly at: number;
  readonly label: string;
  /** Whether the label stays when there is not enough room for all. */
  readonly kept?: boolean;
}

export interface Plot {
  /** What screen readers say instead of the picture; the figures are in the table below. */
  readonly label: string;
  readonly heightPx: number;
  readonly x: readonly Tick[];
  readonly y: readonly Tick[];
  /** Shapes in a box of 100 by `heightPx` units, stretched to the width of the page. */
  readonly shapes: Child;
  /** Shapes that keep their proportions: horizontal positions in percent, vertical ones in pixels. */
  readonly marks?: Child;
  /** Omits the labels of the horizontal axis, for a plot above another one. */
  readonly bare?: boolean;
  /** Position of each row of the figure's table on the horizontal axis, in percent. */
  readonly rows?: readonly number[];
  /** Length of the horizontal axis, if it is time. */
  readonly seconds?: number;
}

const AXIS_PX = 24;

/**
 * A drawing that fills the available width: lines and areas stretch while strokes and text keep their size, so that one
 * page serves wide screens, narrow ones and paper.
 */
export const plot = ({ label, heightPx, x, y, shapes, marks, bare = false, rows, seconds }: Plot): VNode =>
  el(
    "div.chart",
    {
      role: "img",
      "aria-label": label,
      "data-rows": rows?.map(round).join(" "),
      "data-seconds": seconds,
    },
    el(
      "svg.scale",
      { width: 56, height: heightPx, "aria-hidden": "true" },
      apart(y, ({ at }) => [baseline(at, heightPx), baseline(at, heightPx) + LINE_PX]).map(({ at, label }) =>
        el("text", { x: 48, y: round(baseline(at, heightPx)), "text-anchor": "end" }, label),
      ),
    ),
    el(
      "svg.plot",
      { height: heightPx + (bare ? 2 : AXIS_PX), "aria-hidden": "true" },
      y.map(({ at }) => across("grid", at)),
      stretched(heightPx, shapes),
      marks,
      !bare && axisText(x, heightPx),
    ),
  );

export const stretched = (heightPx: number, shapes: Child): VNode =>
  el(
    "svg.box",
    {
      x: 0,
      y: 0,
      width: "100%",
      height: heightPx,
      viewBox: `0 0 100 ${heightPx}`,
      preserveAspectRatio: "none",
    },
    shapes,
  );

export const axisText = (ticks: readonly Tick[], topPx: number): readonly VNode[] => [
  across("axis", topPx + 0.5),
  ...apart(ticks, extentOf).map(({ at, label }) =>
    el("text", { x: percent(at), y: topPx + 17, "text-anchor": anchorAt(at) }, label),
  ),
];

type Extent = readonly [from: number, to: number];

const LINE_PX = 13;
const baseline = (at: number, heightPx: number): number => Math.min(heightPx - 1, Math.max(9, at + 4));

/** Labels are laid out for the narrowest picture, on a page 320 pixels wide. */
const NARROW_PX = 220;
const CHARACTER_PX = 7;
const BETWEEN_PX = 8;

const anchorAt = (at: number): "start" | "middle" | "end" => {
  if (at < 4) return "start";
  return at > 96 ? "end" : "middle";
};

const extentOf = ({ at, label }: Tick): Extent => {
  const [width, x] = [label.length * CHARACTER_PX + BETWEEN_PX, (at / 100) * NARROW_PX];
  const from = { start: x, middle: x - width / 2, end: x - width }[anchorAt(at)];
  return [from, from + width];
};

/** The labels that fit: first those to keep, then the others in order. */
const apart = (ticks: readonly Tick[], extent: (tick: Tick) => Extent): readonly Tick[] => {
  const taken: Extent[] = [];
  const hasRoom = (tick: Tick): boolean => {
    const [from, to] = extent(tick);
    if (taken.some(([low, high]) => from < high && low < to)) return false;
    taken.push([from, to]);
    return true;
  };
  const kept = new Set(ticks.filter(({ kept }) => kept === true).filter(hasRoom));
  return ticks.filter((tick) => kept.has(tick) || (tick.kept !== true && hasRoom(tick)));
};

/** A line over the whole width, at this distance from the top. */
export const across = (className: string, yPx: number): VNode =>
  el("line", { class: className, x1: 0, x2: "100%", y1: round(yPx), y2: round(yPx) });

/** A vertical line at this percentage of the width. */
export const upright = (className: string, x: number, fromPx: number, toPx: number): VNode =>
  el("line", { class: className, x1: percent(x), x2: percent(x), y1: fromPx, y2: toPx });

/** Short numbers, because a page holds many thousands of coordinates. */
export const round = (value: number): number => Math.round(value * 100) / 100;

export const percent = (value: number): string => `${round(value)}%`;
