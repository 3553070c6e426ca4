import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { VNode } from "preact";
import type { PictureOf } from "../../document/pictures.ts";
import type { Trend } from "../../history/trends.ts";
import { minuteOf, rate } from "../../text/figures.ts";
import { plot, round, upright } from "../chart.ts";
import { el } from "../element.ts";
import { roundLatency, upScale } from "../scales.ts";

const HEIGHT_PX = 110;

/** One metric over equally spaced runs; a line marks each change of level. */
export const trend = ({ trend: { points, changes, metric }, label }: PictureOf<"trend">): VNode => {
  const isLatency = metric.startsWith("p");
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [1, 99]);
  const y = upScale(Math.max(...points.map(({ value }) => value)) * 1.1, HEIGHT_PX, (value) =>
    isLatency ? roundLatency(value) : rate(value),
  );
  const path = line<Trend["points"][number]>(
    (_, at) => x(at),
    ({ value }) => y.at(value),
  ).digits(2);
  const ends = [...new Set([0, points.length - 1])];
  const days = new Set(ends.map((at) => points[at]?.startedAt.slice(0, 10)));
  // Runs of the same day differ only in their time.
  const when = (startedAt = ""): string =>
    days.size > 1 || ends.length === 1 ? startedAt.slice(0, 10) : minuteOf(startedAt);
  return plot({
    label,
    heightPx: HEIGHT_PX,
    x: ends.map((at) => ({ at: x(at), label: when(points[at]?.startedAt) })),
    y: y.ticks,
    rows: points.map((_, at) => x(at)),
    shapes: [
      el("path.line-run", { d: path([...points]) ?? "" }),
      el("path.dots-run", {
        d: points.map(({ value }, at) => `M${round(x(at))},${round(y.at(value))}h0`).join(""),
      }),
    ],
    marks: changes.map(({ at, before, after }) =>
      upright(after > before === isLatency ? "change worse" : "change", x(at - 0.5), 0, HEIGHT_PX),
    ),
  });
};
