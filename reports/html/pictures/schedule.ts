import type { VNode } from "preact";
import type { SchedulePicture } from "../../document/pictures.ts";
import { axisOf, measuredLane, readingLane } from "./schedule-lanes.ts";
import { laneGroup } from "./lane.ts";

export const schedule = ({ result, rows, fits, names, mostPushes: most }: SchedulePicture): VNode => {
  const axis = axisOf(rows);
  return laneGroup({
    label: "The retry schedule",
    className: " tight",
    rows: [
      measuredLane(rows, axis),
      ...names.map((name) => readingLane(name, { result, rows, fits: fits.has(name), axis, most })),
    ],
    ticks: axis.ticks,
  });
};
