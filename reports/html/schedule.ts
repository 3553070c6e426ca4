import { scalePow } from "d3-scale";
import type { VNode } from "preact";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { knownRequirement } from "../terminal/titles.ts";
import { factsOf, scheduleRowsOf, type ScheduleRow } from "../text/facts.ts";
import { axisText, percent, type Tick } from "./chart.ts";
import { el } from "./element.ts";
import { figure, link, table } from "./parts.ts";
import { ruleAnchor, type Place } from "./rule-card.ts";

const ROW_PX = 30;
/** Bands go on beyond their strip, to the ends of a row that is higher. */
const BEYOND_PX = 60;
/** A push may be late by a tenth of its delay, or by what the profile tolerates where that is more. */
const LATENESS = 0.1;

/** The pushes of a notification that was never acknowledged, over what each reading of the schedule expects. */
export const schedules = (record: RunRecord, place: Place): readonly VNode[] =>
  record.rules.flatMap((result) => {
    const rows = scheduleRowsOf(result);
    return rows.length === 0 ? [] : [schedule(result, rows, { place, most: mostPushes(record) })];
  });

/** How many pushes the document allows of one notification. */
const mostPushes = ({ limits }: RunRecord): number =>
  typeof limits["maxPushes"] === "number" ? limits["maxPushes"] : Infinity;

const secondsText = (ms: unknown): string => (typeof ms === "number" ? String(Math.round(ms) / 1_000) : "");

interface Context {
  readonly place: Place;
  readonly most: number;
}

const schedule = (result: RuleResult, rows: readonly ScheduleRow[], { place, most }: Context): VNode => {
  const allowed = factsOf(result)["readings"];
  const fits = new Set<unknown>(Array.isArray(allowed) ? allowed : []);
  const names = [...new Set(rows.flatMap(({ expectedMs }) => Object.keys(expectedMs)))].toSorted();
  const axis = axisOf(rows);
  return figure({
    title: "The retry schedule",
    note: [
      "Pushes of one notification that was never acknowledged, in seconds after its event (",
      link(ruleAnchor(place, result.id), result.id),
      "). A reading fits where every push lies in a window; windows are a tenth of the delay wide, or as wide as the profile tolerates.",
    ],
    legend: [
      ["measured", "a push as measured"],
      ["window-fits", "window of a reading that fits"],
      ["window-out", "window of a reading that does not"],
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

const cameText = ({ afterMs, beforeMs }: ScheduleRow): string => {
  if (afterMs === undefined || beforeMs === undefined) return "did not come";
  const [from, to] = [secondsText(afterMs), secondsText(beforeMs)];
  return from === to ? to : `${from} to ${to}`;
};

interface Axis {
  readonly at: (ms: number) => number;
  readonly ticks: readonly Tick[];
}

/** The square root of time: the first gaps stay visible beside the last ones. */
const axisOf = (rows: readonly ScheduleRow[]): Axis => {
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
    ticks: measured
      .toSorted((a, b) => a - b)
      .map((ms) => ({ at: at(ms), label: `${ms / 1_000} s` }))
      .filter(({ at }, index, all) => index === 0 || at - (all[index - 1]?.at ?? 0) > 5),
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

const measuredLane = (rows: readonly ScheduleRow[], axis: Axis): VNode =>
  el(
    "div",
    { class: "lane" },
    el("div", { class: "lane-name" }, el("b", {}, "measured")),
    el(
      "svg",
      {
        class: "strip",
        height: ROW_PX,
        role: "img",
        "aria-label": `Pushes came after ${rows.map(cameText).join(", ")} seconds`,
      },
      bands(rows, axis, "band"),
      rows.flatMap(({ push, beforeMs }) =>
        beforeMs === undefined
          ? []
          : [
              el("circle", { class: "push-dot", cx: percent(axis.at(beforeMs)), cy: ROW_PX / 2, r: 8 }),
              el(
                "text",
                {
                  class: "push-nth",
                  x: percent(axis.at(beforeMs)),
                  y: ROW_PX / 2 + 4,
                  "text-anchor": "middle",
                },
                String(push),
              ),
            ],
      ),
    ),
  );

interface Lane {
  readonly result: RuleResult;
  readonly rows: readonly ScheduleRow[];
  readonly fits: boolean;
  readonly axis: Axis;
  readonly most: number;
}

const readingLane = (name: string, { result, rows, fits, axis, most }: Lane): VNode => {
  const readings = knownRequirement(result.id)?.readings ?? {};
  const words = Object.hasOwn(readings, name) ? (readings[name] ?? "") : "";
  const expected = rows.flatMap(({ expectedMs }) => {
    const ms = expectedMs[name];
    return typeof ms === "number" ? [ms] : [];
  });
  const [tone, verdict] = verdictOf(fits, expected.length > most);
  return el(
    "div",
    { class: `lane ${tone}` },
    el(
      "div",
      { class: "lane-name" },
      el("b", {}, `${name} `, el("span", { class: "fit" }, verdict)),
      el("span", { class: "soft" }, words),
    ),
    el(
      "svg",
      {
        class: "strip",
        height: ROW_PX,
        role: "img",
        "aria-label": `${name} ${verdict}: pushes at ${expected.map(secondsText).join(", ")} seconds`,
      },
      bands(rows, axis, "band faint"),
      expected.map((ms, at) => window(ms, ms - (expected[at - 1] ?? 0), axis, tone)),
    ),
  );
};

/** A reading may fit what was measured and still have more pushes than the document allows. */
const verdictOf = (fits: boolean, isBeyond: boolean): readonly [tone: string, verdict: string] => {
  if (!fits) return ["out", "does not fit"];
  return isBeyond ? ["beyond", "fits, beyond the cap"] : ["fits", "fits"];
};

const window = (ms: number, delayMs: number, axis: Axis, tone: string): VNode => {
  const [from, to] = [axis.at(ms), axis.at(ms + Math.max(1_000, delayMs * LATENESS))];
  return el("rect", {
    class: `window ${tone}`,
    x: percent(from),
    width: percent(Math.min(100, to) - from),
    y: 7,
    height: ROW_PX - 14,
    rx: 2,
  });
};
