import type { VNode } from "preact";
import type { PictureOf, Range } from "../../document/pictures.ts";
import { changeScale } from "../scales.ts";
import { across, percent, plot, round } from "../chart.ts";
import { el } from "../element.ts";

const HEIGHT_PX = 150;
/** Keeps dots and their outlines inside the picture. */
const [FIRST, LAST] = [2, 98];

export const pairs = (picture: PictureOf<"pairs">): VNode => {
  const { label, verdict, pairs: all, ratio, interval, floor, detectable } = picture;
  const ratios = all.map((one) => one.ratio);
  const seen = detectable === undefined ? [] : [1 / (1 + detectable), 1 + detectable];
  const y = changeScale([...ratios, ...(interval ?? []), 1 + floor, ratio], HEIGHT_PX - 4, 4);
  const at = (index: number): number =>
    all.length === 1 ? 50 : FIRST + ((LAST - FIRST) * index) / (all.length - 1);
  const band = ([low, high]: Range, className: string): VNode =>
    el("rect", {
      class: className,
      x: 0,
      width: 100,
      y: round(y.at(high)),
      height: Math.max(1, round(y.at(low) - y.at(high))),
    });
  const ends = [...new Set([0, all.length - 1])];
  return plot({
    label,
    heightPx: HEIGHT_PX,
    x: ends.map((index) => ({ at: at(index), label: `pair ${(all[index]?.pair ?? 0) + 1}` })),
    y: y.ticks,
    rows: all.map((_, index) => at(index)),
    shapes: [
      band([1 / (1 + floor), 1 + floor], "floor-band"),
      interval !== undefined && band(interval, `interval-band ${verdict}`),
    ],
    marks: [
      across("no-change", y.at(1)),
      ...seen.map((value) => across("detectable-line", y.at(value))),
      ...all.map((one, index) =>
        el("circle.pair", { cx: percent(at(index)), cy: round(y.at(one.ratio)), r: 4.5 }),
      ),
    ],
  });
};
