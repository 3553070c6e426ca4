import { scaleLog } from "d3-scale";
import type { VNode } from "preact";
import type { BreakpointStep } from "../../../conformance/contract/load-record.ts";
import type { PictureOf } from "../../document/pictures.ts";
import { rate } from "../../text/figures.ts";
import { percent, plot, round, type Tick } from "../chart.ts";
import { el } from "../element.ts";

const HEIGHT_PX = 190;

export const stepsPicture = ({ label, steps }: PictureOf<"steps">): VNode => {
  const rates = steps.flatMap(({ rate: asked, achieved }) => [asked, ...(achieved > 0 ? [achieved] : [])]);
  const y = scaleLog([Math.min(...rates) * 0.8, Math.max(...rates) * 1.25], [HEIGHT_PX - 2, 2]);
  const at = (index: number): number => ((index + 0.5) / steps.length) * 100;
  const half = 36 / steps.length;
  const ticks: readonly Tick[] = [...new Set(steps.map((step) => step.rate))]
    .toSorted((a, b) => a - b)
    .map((one) => ({ at: y(one), label: rate(one) }));
  return plot({
    label,
    heightPx: HEIGHT_PX,
    x: steps.map((_, index) => ({ at: at(index), label: String(index + 1) })),
    y: ticks,
    rows: steps.map((_, index) => at(index)),
    shapes: steps.map((step, index) =>
      el("line.asked", {
        x1: round(at(index) - half),
        x2: round(at(index) + half),
        y1: round(y(step.rate)),
        y2: round(y(step.rate)),
      }),
    ),
    marks: steps.map((step, index) => markOf(step, percent(at(index)), round(y(step.achieved || step.rate)))),
  });
};

const markOf = ({ verdict }: BreakpointStep, x: string, y: number): VNode => {
  if (verdict === "gave way")
    return el(
      "svg.broken",
      { x, y, overflow: "visible" },
      el("rect.steps-gave", { x: -5.5, y: -5.5, width: 11, height: 11 }),
    );
  return el("circle", {
    class: verdict === "held" ? "steps-held" : "steps-spoilt",
    cx: x,
    cy: y,
    r: verdict === "held" ? 6 : 5,
  });
};
