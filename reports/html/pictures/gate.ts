import { fieldOf } from "../../../conformance/contract/json.ts";
import type { VNode } from "preact";
import type { PictureOf } from "../../document/pictures.ts";
import { laneGroup, type LaneRow } from "./lanes.ts";
import { scalePow, scaleSymlog } from "d3-scale";
import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import { requirementOf } from "../../text/verdicts.ts";
import {
  cameText,
  expectedOf,
  secondsText,
  type ScheduleRow,
  intervalText,
  type Lifetime,
} from "../../text/facts.ts";
import { percent, type Tick, upright } from "../chart.ts";
import { el, type Child, link } from "../element.ts";
import { duration } from "../../../conformance/contract/duration.ts";

type Row = PictureOf<"lifetimes">["rows"][number];

const LIFETIME_PX = 34;
/** A line extends beyond its strip, to the edges of a higher row. */
const BEYOND_STRIP_PX = 60;
/** The axis shows at least this much on both sides of the promised end. */
const LEAST_MS = 10_000;

export const lifetimes = ({ rows }: PictureOf<"lifetimes">): VNode => {
  const axis = endAxisOf(rows);
  return laneGroup({
    label: "Measured lifetimes",
    rows: rows.map((row) => lane(row, axis)),
    ticks: axis.ticks,
  });
};

interface EndAxis {
  readonly at: (fromEndMs: number) => number;
  readonly farMs: number;
  readonly ticks: readonly Tick[];
}

/** Symmetric around the promised end, so that seconds show beside days. */
const endAxisOf = (rows: readonly Row[]): EndAxis => {
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

const lane = ({ id, anchor, names, interval }: Row, axis: EndAxis): LaneRow => ({
  name: [link(anchor, id), el("span.soft", `${named(names)}: ${duration(interval.lifetimeMs)}`)],
  label: `${id}: ${intervalText(interval)}`,
  heightPx: LIFETIME_PX,
  drawing: [
    bars(interval, axis),
    upright("promise-line", 50, -BEYOND_STRIP_PX, LIFETIME_PX + BEYOND_STRIP_PX),
  ],
});

const named = (names: readonly string[]): string =>
  names.length <= 2 ? names.join(", ") : `${names[0]} and ${names.length - 1} more`;

const bars = ({ lifetimeMs, acceptedUpToMs, refusedFromMs }: Lifetime, axis: EndAxis): Child => {
  const bar = (className: string, fromMs: number, toMs: number): Child => {
    const [from, to] = [axis.at(Math.max(-axis.farMs, fromMs)), axis.at(Math.min(axis.farMs, toMs))];
    const place = { x: percent(from), width: percent(to - from), y: 11, height: LIFETIME_PX - 22, rx: 2 };
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

export const schedule = (picture: PictureOf<"schedule">): VNode => {
  const axis = axisOf(picture.rows);
  return laneGroup({
    label: "The retry schedule",
    className: " tight",
    rows: [
      measuredLane(picture.rows, axis),
      ...picture.names.map((name) => readingLane(name, picture, axis)),
    ],
    ticks: axis.ticks,
  });
};

const ROW_PX = 30;
/** Bands extend beyond their strip, to the edges of a higher row. */
const BEYOND_PX = 60;

/** The window of each push in a reading, in milliseconds after the event, as the gate judged it. */
export const windowsIn = (rows: readonly ScheduleRow[], name: string): readonly TimeInterval[] =>
  rows.flatMap((row) => {
    const [earliestMs, latestMs] = [fieldOf(row.earliestMs, name), fieldOf(row.latestMs, name)];
    return typeof earliestMs === "number" && typeof latestMs === "number" ? [{ earliestMs, latestMs }] : [];
  });

interface Axis {
  readonly at: (ms: number) => number;
  readonly ticks: readonly Tick[];
}

/** The square root of time keeps the first gaps visible beside the last ones. */
export const axisOf = (rows: readonly ScheduleRow[]): Axis => {
  const instants = rows.flatMap(({ beforeMs, expectedMs }) => [
    beforeMs ?? 0,
    ...Object.values(expectedMs).flatMap((ms) => (typeof ms === "number" ? [ms] : [])),
  ]);
  const at = scalePow([0, Math.max(1_000, ...instants) * 1.06], [1, 100]).exponent(0.5);
  const measured = [
    ...new Set(
      rows.flatMap(({ beforeMs }) => (beforeMs === undefined ? [] : [Math.round(beforeMs / 1_000) * 1_000])),
    ),
  ];
  return {
    at: (ms) => at(ms),
    ticks: measured.toSorted((a, b) => a - b).map((ms) => ({ at: at(ms), label: `${ms / 1_000} s` })),
  };
};

const bands = (rows: readonly ScheduleRow[], axis: Axis, className: string): readonly VNode[] =>
  rows.flatMap(({ afterMs, beforeMs }) => {
    if (afterMs === undefined || beforeMs === undefined) return [];
    const [from, to] = [axis.at(afterMs), axis.at(beforeMs)];
    return [
      el("rect", {
        class: className,
        x: percent(from),
        width: percent(Math.max(0.25, to - from)),
        y: -BEYOND_PX,
        height: ROW_PX + 2 * BEYOND_PX,
      }),
    ];
  });

const measuredLane = (rows: readonly ScheduleRow[], axis: Axis): LaneRow => ({
  name: el("b", "measured"),
  label: `Pushes came after ${rows.map(cameText).join(", ")} seconds`,
  heightPx: ROW_PX,
  drawing: [
    ...bands(rows, axis, "band"),
    ...rows.flatMap(({ push, beforeMs }) => {
      if (beforeMs === undefined) return [];
      const x = percent(axis.at(beforeMs));
      return [
        el("circle.push-dot", { cx: x, cy: ROW_PX / 2, r: 8 }),
        el("text.push-nth", { x, y: ROW_PX / 2 + 4, "text-anchor": "middle" }, String(push)),
      ];
    }),
  ],
});

const readingLane = (
  name: string,
  { result, rows, fits, mostPushes }: PictureOf<"schedule">,
  axis: Axis,
): LaneRow => {
  const words = requirementOf(result.id).readings?.[name] ?? "";
  const expected = expectedOf(rows, name);
  const [tone, verdict] = verdictOf(fits.has(name), expected.length > mostPushes);
  return {
    name: [el("b", `${name} `, el("span.fit", verdict)), el("span.soft", words)],
    label: `${name} ${verdict}: pushes at ${expected.map(secondsText).join(", ")} seconds`,
    heightPx: ROW_PX,
    drawing: [
      ...bands(rows, axis, "band faint"),
      ...windowsIn(rows, name).map((one) => window(one, axis, tone)),
    ],
    className: ` ${tone}`,
  };
};

/** A reading may fit the measurements and still have more pushes than the document allows. */
const verdictOf = (fits: boolean, isBeyond: boolean): readonly [tone: string, verdict: string] => {
  if (!fits) return ["out", "does not fit"];
  return isBeyond ? ["beyond", "fits, beyond the cap"] : ["fits", "fits"];
};

const window = ({ earliestMs, latestMs }: TimeInterval, axis: Axis, tone: string): VNode => {
  const [from, to] = [axis.at(Math.max(0, earliestMs)), axis.at(latestMs)];
  return el("rect", {
    class: `window ${tone}`,
    x: percent(from),
    width: percent(Math.min(100, to) - from),
    y: 7,
    height: ROW_PX - 14,
    rx: 2,
  });
};
