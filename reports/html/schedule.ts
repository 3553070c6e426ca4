import type { VNode } from "preact";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { factsOf, scheduleRowsOf, type ScheduleRow } from "../text/facts.ts";
import { axisText } from "./chart.ts";
import { el } from "./element.ts";
import { figure, link, table } from "./parts.ts";
import { ruleAnchor, type Place } from "./rule-card.ts";
import { axisOf, cameText, expectedOf, measuredLane, readingLane, secondsText } from "./schedule-lanes.ts";

/** The pushes of a notification that was never acknowledged, over what each reading of the schedule expects. */
export const schedules = (record: RunRecord, place: Place): readonly VNode[] =>
  record.rules.flatMap((result) => {
    const rows = scheduleRowsOf(result);
    return rows.length === 0 ? [] : [schedule(result, rows, { place, most: mostPushes(record) })];
  });

/** How many pushes the document allows of one notification. */
const mostPushes = ({ limits }: RunRecord): number =>
  typeof limits["maxPushes"] === "number" ? limits["maxPushes"] : Infinity;

interface Context {
  readonly place: Place;
  readonly most: number;
}

const schedule = (result: RuleResult, rows: readonly ScheduleRow[], { place, most }: Context): VNode => {
  const allowed = factsOf(result)["readings"];
  const fits = new Set<unknown>(Array.isArray(allowed) ? allowed : []);
  const names = [...new Set(rows.flatMap(({ expectedMs }) => Object.keys(expectedMs)))].toSorted();
  const axis = axisOf(rows);
  const isAnyBeyond = names.some((name) => fits.has(name) && expectedOf(rows, name).length > most);
  return figure({
    title: "The retry schedule",
    note: [
      "Pushes of one notification that was never acknowledged, in seconds after its event (",
      link(ruleAnchor(place, result.id), result.id),
      "). A reading fits where every push lies in a window; a window is as wide as a push may be late.",
    ],
    legend: [
      ["measured", "a push as measured"],
      ["window-fits", "window of a reading that fits"],
      ["window-out", "window of a reading that does not"],
      ...(isAnyBeyond ? ([["window-beyond", "window of a reading that fits beyond the cap"]] as const) : []),
    ],
    picture: el(
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
    ),
    table: table(
      "The retry schedule, in seconds after the event",
      ["Push", "Came after", ...names.map((name) => (fits.has(name) ? `${name} (fits)` : name))],
      rows.map((row) => [
        String(row.push),
        cameText(row),
        ...names.map((name) => secondsText(row.expectedMs[name])),
      ]),
      [1, ...names.map((_, at) => at + 2)],
    ),
  });
};
