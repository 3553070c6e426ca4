import { scaleSymlog } from "d3-scale";
import type { VNode } from "preact";
import { duration } from "../../conformance/contract/duration.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { bracketsOf, bracketText, type Bracket } from "../text/facts.ts";
import { axisText, percent, type Tick } from "./chart.ts";
import { el } from "./element.ts";
import { figure, link, table } from "./parts.ts";
import { ruleAnchor, type Place } from "./rule-card.ts";

interface Row {
  readonly id: string;
  readonly names: readonly string[];
  readonly bracket: Bracket;
}

const ROW_PX = 34;
/** A line goes on beyond its strip, to the ends of a row that is higher. */
const BEYOND_PX = 60;
/** The axis shows at least so much on both sides of the promised end. */
const LEAST_MS = 10_000;

/** Lifetimes as brackets around the promised end, on one axis for all; nothing where none was measured. */
export const lifetimes = (record: RunRecord, place: Place): VNode | undefined => {
  const rows = record.rules.flatMap((result): Row[] =>
    [...Map.groupBy(bracketsOf(result), ([, bracket]) => JSON.stringify(bracket)).values()].flatMap(
      (group) => {
        const bracket = group[0]?.[1];
        return bracket === undefined ? [] : [{ id: result.id, names: group.map(([name]) => name), bracket }];
      },
    ),
  );
  if (rows.length === 0) return undefined;
  const axis = axisOf(rows);
  return figure({
    title: "Lifetimes as measured",
    note: "Each credential was probed once, at ages on both sides of its promised end, which is the line in the middle. The truth lies between the two bars.",
    legend: [
      ["good", "still accepted"],
      ["ended", "refused"],
      ["wrong", "on the wrong side of the promise"],
    ],
    picture: el(
      "div",
      { class: "lanes", role: "group", "aria-label": "Lifetimes as measured" },
      rows.map((row) => lane(row, axis, place)),
      el(
        "div",
        { class: "lane foot" },
        el("div", {}),
        el("svg", { class: "strip", height: 24, "aria-hidden": "true" }, axisText(axis.ticks, 0)),
      ),
    ),
    table: table(
      "Lifetimes as measured",
      ["Rule", "Of what", "Promised", "Accepted up to", "Refused from"],
      rows.flatMap(({ id, names, bracket }) =>
        names.map((name) => [
          id,
          name,
          duration(bracket.lifetimeMs),
          ageText(bracket.acceptedUpToMs),
          ageText(bracket.refusedFromMs),
        ]),
      ),
    ),
  });
};

const ageText = (ms: unknown): string => {
  if (typeof ms === "number") return duration(ms);
  return ms === undefined ? "not probed" : "never";
};

interface Axis {
  readonly at: (fromEndMs: number) => number;
  readonly farMs: number;
  readonly ticks: readonly Tick[];
}

/** Symmetric around the promised end: seconds show beside days. */
const axisOf = (rows: readonly Row[]): Axis => {
  const distances = rows.flatMap(({ bracket }) =>
    [bracket.acceptedUpToMs, bracket.refusedFromMs].flatMap((age) =>
      typeof age === "number" ? [Math.abs(age - bracket.lifetimeMs)] : [],
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
      { at: 50, label: "promised end" },
      ...shown.map((one) => ({ at: at(one), label: `+${duration(one)}` })),
    ].filter(({ at }, index, all) => index === 0 || at - (all[index - 1]?.at ?? 0) > 7),
  };
};

const lane = ({ id, names, bracket }: Row, axis: Axis, place: Place): VNode =>
  el(
    "div",
    { class: "lane" },
    el(
      "div",
      { class: "lane-name" },
      link(ruleAnchor(place, id), id),
      el("span", { class: "soft" }, `${named(names)}: ${duration(bracket.lifetimeMs)}`),
    ),
    el(
      "svg",
      { class: "strip", height: ROW_PX, role: "img", "aria-label": `${id}: ${bracketText(bracket)}` },
      bars(bracket, axis),
      el("line", { class: "promise-line", x1: "50%", x2: "50%", y1: -BEYOND_PX, y2: ROW_PX + BEYOND_PX }),
    ),
  );

const named = (names: readonly string[]): string =>
  names.length <= 2 ? names.join(", ") : `${names[0]} and ${names.length - 1} more`;

const bars = ({ lifetimeMs, acceptedUpToMs, refusedFromMs }: Bracket, axis: Axis): readonly VNode[] => {
  const bar = (className: string, fromMs: number, toMs: number): VNode[] => {
    const [from, to] = [axis.at(Math.max(-axis.farMs, fromMs)), axis.at(Math.min(axis.farMs, toMs))];
    return to <= from
      ? []
      : [
          el("rect", {
            class: className,
            x: percent(from),
            width: percent(to - from),
            y: 11,
            height: ROW_PX - 22,
            rx: 2,
          }),
        ];
  };
  const accepted = typeof acceptedUpToMs === "number" ? acceptedUpToMs - lifetimeMs : undefined;
  const refused = typeof refusedFromMs === "number" ? refusedFromMs - lifetimeMs : undefined;
  return [
    ...(accepted === undefined
      ? []
      : [...bar("bar-good", -axis.farMs, Math.min(0, accepted)), ...bar("bar-wrong", 0, accepted)]),
    ...(refused === undefined
      ? []
      : [...bar("bar-wrong", refused, 0), ...bar("bar-ended", Math.max(0, refused), axis.farMs)]),
  ];
};
