import { scaleSymlog } from "d3-scale";
import type { VNode } from "preact";
import { duration } from "../../../conformance/contract/duration.ts";
import type { PictureOf } from "../../document/pictures.ts";
import { intervalText, type TimeInterval } from "../../text/facts.ts";
import { percent, upright, type Tick } from "../chart.ts";
import { type Child, el, link } from "../element.ts";
import { laneGroup, type LaneRow } from "./lanes.ts";

type Row = PictureOf<"lifetimes">["rows"][number];

const ROW_PX = 34;
/** A line extends beyond its strip, to the edges of a higher row. */
const BEYOND_PX = 60;
/** The axis shows at least this much on both sides of the promised end. */
const LEAST_MS = 10_000;

export const lifetimes = ({ rows }: PictureOf<"lifetimes">): VNode => {
  const axis = axisOf(rows);
  return laneGroup({
    label: "Measured lifetimes",
    rows: rows.map((row) => lane(row, axis)),
    ticks: axis.ticks,
  });
};

interface Axis {
  readonly at: (fromEndMs: number) => number;
  readonly farMs: number;
  readonly ticks: readonly Tick[];
}

/** Symmetric around the promised end, so that seconds show beside days. */
const axisOf = (rows: readonly Row[]): Axis => {
  const distances = rows.flatMap(({ interval }) =>
    [interval.acceptedUpToMs, interval.refusedFromMs].flatMap((age) =>
      typeof age === "number" ? [Math.abs(age - interval.lifetimeMs)] : [],
    ),
  );
  const farMs = Math.max(LEAST_MS, ...distances) * 1.6;
  const at = scaleSymlog([-farMs, farMs], [0, 100]).constant(300);
  const steps = [1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000, 10 * 86_400_000].filter(
    (one) => one < farMs,
  );
  const shown = steps.length > 3 ? steps.filter((_, index) => index % 2 === 0) : steps;
  return {
    at: (ms) => at(ms),
    farMs,
    ticks: [
      ...shown.toReversed().map((one) => ({ at: at(-one), label: `−${duration(one)}` })),
      { at: 50, label: "promised end", kept: true },
      ...shown.map((one) => ({ at: at(one), label: `+${duration(one)}` })),
    ],
  };
};

const lane = ({ id, anchor, names, interval }: Row, axis: Axis): LaneRow => ({
  name: [link(anchor, id), el("span.soft", `${named(names)}: ${duration(interval.lifetimeMs)}`)],
  label: `${id}: ${intervalText(interval)}`,
  heightPx: ROW_PX,
  drawing: [bars(interval, axis), upright("promise-line", 50, -BEYOND_PX, ROW_PX + BEYOND_PX)],
});

const named = (names: readonly string[]): string =>
  names.length <= 2 ? names.join(", ") : `${names[0]} and ${names.length - 1} more`;

const bars = ({ lifetimeMs, acceptedUpToMs, refusedFromMs }: TimeInterval, axis: Axis): Child => {
  const bar = (className: string, fromMs: number, toMs: number): Child => {
    const [from, to] = [axis.at(Math.max(-axis.farMs, fromMs)), axis.at(Math.min(axis.farMs, toMs))];
    const place = { x: percent(from), width: percent(to - from), y: 11, height: ROW_PX - 22, rx: 2 };
    return to > from && el("rect", { class: className, ...place });
  };
  const accepted = typeof acceptedUpToMs === "number" ? acceptedUpToMs - lifetimeMs : undefined;
  const refused = typeof refusedFromMs === "number" ? refusedFromMs - lifetimeMs : undefined;
  return [
    accepted !== undefined && [
      bar("bar-good", -axis.farMs, Math.min(0, accepted)),
      bar("bar-wrong", 0, accepted),
    ],
    refused !== undefined && [
      bar("bar-wrong", refused, 0),
      bar("bar-ended", Math.max(0, refused), axis.farMs),
    ],
  ];
};
