import type { VNode } from "preact";
import { el, type Child } from "./element.ts";
import { scaleLinear, scaleLog } from "d3-scale";
import { change, figure } from "../text/figures.ts";

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

/** The axis with the labels that fit on the narrowest page; `grows` adds those that fit on a wider one. */
export const axisText = (ticks: readonly Tick[], topPx: number, grows = false): readonly VNode[] => {
  const narrow = apart(ticks, (tick) => extentOf(tick, NARROW_PX));
  const wide = grows
    ? apart(
        ticks.map((tick) => (narrow.includes(tick) ? { ...tick, kept: true } : tick)),
        (tick) => extentOf(tick, WIDE_PX),
      ).filter((tick) => !narrow.some(({ at }) => at === tick.at))
    : [];
  const label = ({ at, label: text }: Tick, className?: string): VNode =>
    el("text", { class: className, x: percent(at), y: topPx + 17, "text-anchor": anchorAt(at) }, text);
  return [
    across("axis", topPx + 0.5),
    ...narrow.map((tick) => label(tick)),
    ...wide.map((tick) => label(tick, "wide")),
  ];
};

type Extent = readonly [from: number, to: number];

const LINE_PX = 13;
const baseline = (at: number, heightPx: number): number => Math.min(heightPx - 1, Math.max(9, at + 4));

/** Labels are laid out for the narrowest picture, on a page 320 pixels wide. */
const NARROW_PX = 220;
/** Where lanes have their names beside them. */
const WIDE_PX = 380;
const CHARACTER_PX = 7;
const BETWEEN_PX = 8;

const anchorAt = (at: number): "start" | "middle" | "end" => {
  if (at < 4) return "start";
  return at > 96 ? "end" : "middle";
};

const extentOf = ({ at, label }: Tick, pagePx: number): Extent => {
  const [width, x] = [label.length * CHARACTER_PX + BETWEEN_PX, (at / 100) * pagePx];
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

/** A round latency for an axis label: "0.5 ms", "100 ms", "2 s". */
const roundLatency = (ms: number): string => (ms >= 1_000 ? `${figure(ms / 1_000)} s` : `${trimmed(ms)} ms`);

const trimmed = (value: number): string => String(Number(value.toPrecision(3)));

const unitFor = (lastSecond: number): { readonly seconds: number; readonly name: string } => {
  if (lastSecond >= 7_200) return { seconds: 3_600, name: "h" };
  return lastSecond >= 180 ? { seconds: 60, name: "min" } : { seconds: 1, name: "s" };
};

const stepsSeconds = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400,
];

/** The number of ticks that fit on a narrow page. */
const TICKS = 6;

export const timeScale = (seconds: number) => {
  const at = scaleLinear([0, seconds], [0, 100]);
  const step = stepsSeconds.find((one) => seconds / one <= TICKS) ?? seconds / TICKS;
  const unit = unitFor(seconds);
  const moments = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  const ticks: readonly Tick[] = moments.map((second, index) => ({
    at: at(second),
    label: `${trimmed(second / unit.seconds)}${index === moments.length - 1 ? ` ${unit.name}` : ""}`,
    kept: index === moments.length - 1,
  }));
  return { at: (second: number): number => at(second), ticks };
};

export const upScale = (highest: number, heightPx: number, label: (value: number) => string) => {
  const at = scaleLinear([0, highest <= 0 ? 1 : highest], [heightPx, 6]).nice(3);
  return {
    at: (value: number): number => at(value),
    ticks: at.ticks(3).map((one) => ({ at: at(one), label: label(one) })),
  };
};

/** Latencies on a logarithmic axis over the given range, from `from` to `to` in the picture's units. */
export const latencyScale = (lowMs: number, highMs: number, from: number, to: number) => {
  const low = Math.max(0.001, lowMs);
  const high = Math.max(low * 1.5, highMs);
  const at = scaleLog([low, high], [from, to]).clamp(true);
  return {
    at: (ms: number): number => at(Math.max(low, ms)),
    domain: [low, high] as const,
    ticks: logTicks(low, high).map((ms) => ({ at: at(ms), label: roundLatency(ms) })),
  };
};

/** Shares of a limit, from nothing to a little above the greatest or three times the limit. */
export const limitScale = (greatest: number, from: number, to: number) => {
  const most = Math.min(3, Math.max(1.25, greatest * 1.08));
  const at = scaleLinear([0, most], [from, to]).clamp(true);
  const steps = [0, 0.5, 1, 2, 3].filter((one) => one <= most);
  return {
    at: (share: number): number => at(share),
    ticks: steps.map((one) => ({
      at: at(one),
      label: one === 1 ? "limit" : `${one * 100} %`,
      kept: one === 1,
    })),
  };
};

/** Above this ratio of highest to lowest, powers of ten are enough ticks. */
const MANY_TICKS = 60;

const logTicks = (low: number, high: number): readonly number[] => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const factors = high / low > MANY_TICKS ? [1] : [1, 2, 5];
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
    .flatMap((power) => factors.map((factor) => factor * 10 ** power))
    .filter((ms) => ms >= low && ms <= high);
};

/** Changes that label the axis, as shares; each is shown with its inverse if both fit. */
const shares = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 9];
/** Beyond tenfold, a picture only says that the change is large. */
const MOST = Math.log(10);
const LEAST = Math.log1p(0.01);
const TICKS_A_SIDE = 2;

/**
 * Ratios on a logarithmic axis with "no change" in the middle, so that twice as slow is as far out as twice as fast.
 * The range covers `ratios`, and at least half to double.
 */
export const changeScale = (ratios: readonly number[], from: number, to: number) => {
  const ways = ratios.flatMap((ratio) =>
    ratio > 0 && Number.isFinite(ratio) ? [Math.abs(Math.log(ratio))] : [],
  );
  const most = Math.min(MOST, Math.max(LEAST, ...ways) * 1.12);
  const at = scaleLinear([-most, most], [from, to]).clamp(true);
  const wide = shares.filter((share) => Math.log1p(share) <= most * 0.94);
  const steps = wide
    .slice(-TICKS_A_SIDE)
    .filter((share, index, all) => all.length === 1 || index === 0 || share >= 2 * (all[0] ?? 0));
  const ticks: readonly Tick[] = [...steps.flatMap((share) => [1 / (1 + share), 1 + share]), 1]
    .toSorted((a, b) => a - b)
    .map((ratio) => ({ at: at(Math.log(ratio)), label: change(ratio), kept: ratio === 1 }));
  return { at: (ratio: number): number => at(Math.log(Math.max(Number.MIN_VALUE, ratio))), ticks };
};
