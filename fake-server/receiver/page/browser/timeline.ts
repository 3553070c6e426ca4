import { axisLabel, clockTime, span } from "../model/format.ts";
import { outcomeOf } from "../model/raw.ts";
import type { Standing } from "../model/standing.ts";
import { type Attempt, isAcknowledged, type Notification } from "../model/store.ts";
import { drawing, element } from "./dom.ts";

/** What all rows have in common: how long the axis is, and the moments of the schedule, were every push to fail at once. */
export interface Axis {
  readonly lengthMs: number;
  readonly instantsMs: readonly number[];
}

/** Labels closer than this share of the axis would run into each other. */
const labelRoom = 6;

/** A place on the axis in percent; what lies beyond stands at its end. */
const place = (atMs: number, lengthMs: number): number => Math.min(Math.max(atMs / lengthMs, 0), 1) * 100;

const percent = (value: number): string => `${value.toFixed(3)}%`;

/** One shape for each outcome, so that colour is never the only difference. */
const shapeOf = (attempt: Attempt): { path: string; look: string } => {
  if (isAcknowledged(attempt)) return { path: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", look: "good" };
  if (attempt.status !== undefined) return { path: "M-4 -4h8v8h-8z", look: "bad" };
  if (attempt.action === "hang") return { path: "M-4 -4v8M4 -4v8M-4 0h8", look: "open" };
  return { path: "M-4 -4l8 8M-4 4l8 -8", look: "open" };
};

const tick = (at: number, lengthMs: number): SVGElement => {
  const x = percent(place(at, lengthMs));
  return drawing("line", { class: "tick", x1: x, x2: x, y1: 0, y2: "100%" });
};

const mark = (attempt: Attempt, standing: Standing, index: number, lengthMs: number): SVGElement => {
  const { startMs, endMs } = standing.spans[index] ?? { startMs: 0, endMs: 0 };
  const { path, look } = shapeOf(attempt);
  const timing = standing.timings[index] ?? "on-time";
  const words = `Push ${index + 1} at ${clockTime(attempt.startMs)} (${span(startMs)}): ${outcomeOf(attempt)}`;
  const from = place(startMs, lengthMs);
  const beyond = startMs > lengthMs ? " off-axis" : "";
  return drawing(
    "g",
    { class: `mark ${look} ${timing}${beyond}` },
    drawing("title", {}, timing === "on-time" ? words : `${words}, ${timing.replaceAll("-", " ")}`),
    drawing("line", {
      class: "held",
      x1: percent(from),
      x2: percent(place(endMs, lengthMs)),
      y1: "50%",
      y2: "50%",
    }),
    drawing(
      "svg",
      { x: percent(from), y: "50%", overflow: "visible" },
      ...(timing === "on-time" ? [] : [drawing("circle", { class: "alarm", r: 8.5 })]),
      drawing("path", { d: path }),
    ),
  );
};

/** The attempts of one notification over the windows in which the schedule expects them. */
export const timeline = (
  { attempts }: Notification,
  standing: Standing,
  { instantsMs, lengthMs }: Axis,
  ageMs: number,
): SVGSVGElement => {
  const windows = standing.windows.slice(1).map(({ fromMs, toMs }) => {
    const from = place(fromMs, lengthMs);
    const width = Math.max(place(toMs, lengthMs) - from, 0.4);
    return drawing("rect", {
      class: "window",
      x: percent(from),
      width: percent(width),
      y: "18%",
      height: "64%",
      rx: 2,
    });
  });
  const open = standing.kind === "waiting" || standing.kind === "overdue";
  const x = percent(place(ageMs, lengthMs));
  const now =
    open && ageMs <= lengthMs ? [drawing("line", { class: "now", x1: x, x2: x, y1: 0, y2: "100%" })] : [];
  return drawing(
    "svg",
    { class: "timeline", "aria-hidden": "true" },
    ...instantsMs.map((at) => tick(at, lengthMs)),
    ...windows,
    ...now,
    ...attempts.map((attempt, index) => mark(attempt, standing, index, lengthMs)),
  );
};

/** The labels over the rows: the moments of the schedule. */
export const axisLabels = ({ instantsMs, lengthMs }: Axis): HTMLElement => {
  let last = -labelRoom;
  const labels = instantsMs.flatMap((at) => {
    const left = place(at, lengthMs);
    if (left - last < labelRoom) return [];
    last = left;
    const label = element("span", {}, axisLabel(at));
    label.style.left = percent(left);
    return [label];
  });
  return element("span", { class: "axis", "aria-hidden": "true" }, ...labels);
};
