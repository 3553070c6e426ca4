import type { VNode } from "preact";
import type { Bullet } from "../../document/model.ts";
import { percent, upright } from "../chart.ts";
import { el } from "../element.ts";

export const bullet = ({ measured, interval, limit, wrong, label }: Bullet): VNode => {
  const most = Math.max(limit, measured, interval?.[1] ?? 0) * 1.15 || 1;
  const at = (value: number): string => percent((value / most) * 100);
  return el(
    "svg.bullet",
    { height: 22, role: "img", "aria-label": label },
    el("rect.track", { x: 0, y: 9, width: "100%", height: 4, rx: 2 }),
    el("rect", {
      class: wrong ? "bar-wrong" : "bar-good",
      x: 0,
      y: 7,
      width: at(measured),
      height: 8,
      rx: 2,
    }),
    interval !== undefined &&
      el("line.whisker", { x1: at(interval[0]), x2: at(interval[1]), y1: 11, y2: 11 }),
    upright("limit", (limit / most) * 100, 1, 21),
  );
};
