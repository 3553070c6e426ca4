import type { LoadRecord, ObjectiveResult } from "../../conformance/contract/load-record.ts";
import { inUnit } from "../text/figures.ts";
import { figure, mark, soft, table, type Figure, type Look, type Table } from "./model.ts";
import type { Lane } from "./pictures.ts";

const objectiveLooks: Readonly<Record<ObjectiveResult["verdict"], readonly [Look, word: string]>> = {
  held: [["good", "check"], "passed"],
  breached: [["bad", "cross"], "failed"],
  "not measured": [["open", "dash"], "not measured"],
};

const lookOfObjective = ({ verdict, reason }: ObjectiveResult): readonly [Look, string] =>
  // If too few requests could show a breach, the tick is not plain.
  verdict === "held" && reason !== undefined
    ? [["open", "ring"], "held, not proven"]
    : objectiveLooks[verdict];

/** Those that were missed come first. */
export const objectivesFigure = (record: LoadRecord): Figure | Table | undefined => {
  const rank = ({ verdict }: ObjectiveResult): number => (verdict === "breached" ? 0 : 1);
  const objectives = record.objectives.toSorted((a, b) => rank(a) - rank(b));
  const rows = table(
    "Objectives",
    ["Objective", ">Limit", ">Measured", ">95 % interval", "Note"],
    objectives.map((one) => {
      const { name, bound, limit, unit, measured, interval, reason } = one;
      const [look, word] = lookOfObjective(one);
      return [
        mark(look, [name], word),
        `${bound} ${inUnit(limit, unit)}`,
        measured === undefined ? "nothing" : inUnit(measured, unit),
        interval === undefined ? "" : interval.map((value) => inUnit(value, unit)).join(" to "),
        reason === undefined ? "" : soft(`${measured === undefined ? "" : `${word}; `}${reason}`),
      ];
    }),
  );
  const lanes = objectives.flatMap(laneOf);
  return rows && lanes.length > 0
    ? figure({
        title: "Measured against the limits",
        drawn:
          "Each value as a share of its limit; where the limit is a least value, the limit as a share of what was measured. Left of the line the objective is met; beyond three times the limit a value stands at the edge.",
        legend: [
          ["limit", "the limit"],
          ["pair-dot", "measured"],
          ["whisker", "its 95 % interval"],
        ],
        picture: { is: "lanes", axis: "limit", label: "Objectives", lanes },
        open: true,
        table: rows,
      })
    : rows;
};

/** To the right of the limit is worse, also where the limit is a least value. */
const laneOf = (one: ObjectiveResult): readonly Lane[] => {
  const { name, bound, limit, unit, measured, interval, verdict } = one;
  if (measured === undefined) return [];
  const ratio = (value: number): number => {
    if (limit === 0) return value === 0 ? 0 : Infinity;
    return bound === "at most" ? value / limit : value === 0 ? Infinity : limit / value;
  };
  const ends = interval?.map(ratio).toSorted((a, b) => a - b);
  const [, word] = lookOfObjective(one);
  return [
    {
      name,
      said: `${inUnit(measured, unit)}, ${bound} ${inUnit(limit, unit)}`,
      label: `${name}: ${word}; ${inUnit(measured, unit)}, ${bound} ${inUnit(limit, unit)}`,
      ...(ends !== undefined && { interval: [ends[0] ?? 0, ends[1] ?? 0] as const }),
      dot: ratio(measured),
      verdict: verdict === "breached" ? "regressed" : undefined,
    },
  ];
};
