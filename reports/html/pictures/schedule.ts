import type { VNode } from "preact";
import type { SchedulePicture } from "../../document/pictures.ts";
import { axisText } from "../chart.ts";
import { el } from "../element.ts";
import { axisOf, measuredLane, readingLane } from "../schedule-lanes.ts";

/** The pushes of a notification that was never acknowledged, over what each reading of the schedule expects. */
export const schedule = ({ result, rows, fits, names, mostPushes: most }: SchedulePicture): VNode => {
  const axis = axisOf(rows);
  return el(
    "div",
    { class: "lanes tight", role: "group", "aria-label": "The retry schedule" },
    measuredLane(rows, axis),
    names.map((name) => readingLane(name, { result, rows, fits: fits.has(name), axis, most })),
    el(
      "div",
      { class: "lane foot" },
      el("div", {}),
      el("svg", { class: "strip", height: 24, "aria-hidden": "true" }, axisText(axis.ticks, 0)),
    ),
  );
};
