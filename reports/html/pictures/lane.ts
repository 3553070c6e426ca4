import type { VNode } from "preact";
import { axisText, type Tick } from "../chart.ts";
import { el, type Child } from "../element.ts";

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
      el("svg.strip", { height: 24, "aria-hidden": "true" }, axisText(options.ticks, 0)),
    ),
  );
