import type { VNode } from "preact";
import type { LoadRecord, ObjectiveResult } from "../../../conformance/contract/load-record.ts";
import { percent } from "../chart.ts";
import { el, type Child } from "../element.ts";
import type { Icon } from "../icons.ts";
import { toneMark, type Tone } from "../mark.ts";
import { table } from "../parts.ts";
import { inUnit } from "../../text/units.ts";

const marks: Readonly<Record<ObjectiveResult["verdict"], readonly [Tone, Icon]>> = {
  held: ["good", "check"],
  breached: ["bad", "cross"],
  "not measured": ["open", "dash"],
};

/** What was promised for the load, and what was measured. */
export const objectives = ({ objectives }: LoadRecord): VNode | undefined =>
  objectives.length === 0
    ? undefined
    : table(
        "Objectives",
        ["Objective", "Limit", "Measured", "Against the limit"],
        objectives.map((one) => [
          el("span", { class: "with-mark" }, toneMark(...marks[one.verdict], one.verdict), one.name),
          `${one.bound} ${inUnit(one.limit, one.unit)}`,
          measured(one),
          bullet(one),
        ]),
        [1, 2],
      );

const measured = ({ measured, interval, unit, reason, verdict }: ObjectiveResult): Child => {
  if (measured === undefined) return reason ?? verdict;
  return [
    inUnit(measured, unit),
    interval !== undefined &&
      el("span", { class: "soft" }, ` (${inUnit(interval[0], unit)} to ${inUnit(interval[1], unit)})`),
    reason !== undefined && el("div", { class: "soft" }, reason),
  ];
};

/** The measured value as a bar with its interval, and the limit as a line across. */
const bullet = ({ measured, interval, limit, verdict, bound }: ObjectiveResult): Child => {
  if (measured === undefined) return undefined;
  const most = Math.max(limit, measured, interval?.[1] ?? 0) * 1.15 || 1;
  const at = (value: number): string => percent((value / most) * 100);
  return el(
    "svg",
    { class: "bullet", height: 22, role: "img", "aria-label": `${verdict}; ${bound} the limit` },
    el("rect", { class: "track", x: 0, y: 9, width: "100%", height: 4, rx: 2 }),
    el("rect", {
      class: verdict === "breached" ? "bar-wrong" : "bar-good",
      x: 0,
      y: 7,
      width: at(measured),
      height: 8,
      rx: 2,
    }),
    interval !== undefined &&
      el("line", { class: "whisker", x1: at(interval[0]), x2: at(interval[1]), y1: 11, y2: 11 }),
    el("line", { class: "limit", x1: at(limit), x2: at(limit), y1: 1, y2: 21 }),
  );
};
