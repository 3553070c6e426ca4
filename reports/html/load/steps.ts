import { scaleLog } from "d3-scale";
import type { VNode } from "preact";
import type { BreakpointStep, LoadRecord } from "../../../conformance/contract/load-record.ts";
import { latency } from "../../text/latency.ts";
import { rate } from "../../text/units.ts";
import { percent, plot, round, type Tick } from "../chart.ts";
import { el, type Child } from "../element.ts";
import { toneMark } from "../mark.ts";
import { figure, table } from "../parts.ts";

const HEIGHT_PX = 190;

const marks = {
  held: toneMark("good", "check", "held"),
  "gave way": toneMark("bad", "cross", "gave way"),
  spoilt: toneMark("open", "question", "spoilt"),
} as const;

/** The search for the highest rate, step by step: its answer, its course and what gave way. */
export const searchContent = ({ steps = [], highestRate }: LoadRecord): readonly Child[] =>
  steps.length === 0
    ? []
    : [
        el(
          "p",
          {},
          highestRate === undefined
            ? "The objectives held at no rate that was tried."
            : `The objectives held up to ${rate(highestRate)} requests a second.`,
        ),
        picture(steps, highestRate),
        stepTable(steps),
      ];

const stepTable = (steps: readonly BreakpointStep[]): VNode =>
  table(
    "The search for the highest rate",
    ["Step", "Asked, requests a second", "Achieved", "Outcome", "p95", "What gave way"],
    steps.map((step, at) => [
      String(at + 1),
      rate(step.rate),
      rate(step.achieved),
      el("span", { class: "with-mark word" }, marks[step.verdict], step.verdict),
      el(
        "ul",
        { class: "plain" },
        Object.entries(step.p95Ms ?? {})
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([endpoint, ms]) => el("li", { class: "word" }, `${endpoint} ${latency(ms)}`)),
      ),
      [step.gaveWay, step.reason].filter((one) => one !== undefined).join(": "),
    ]),
    [0, 1, 2],
  );

const picture = (steps: readonly BreakpointStep[], highestRate: number | undefined): VNode => {
  const rates = steps.flatMap(({ rate, achieved }) => [rate, ...(achieved > 0 ? [achieved] : [])]);
  const y = scaleLog([Math.min(...rates) * 0.8, Math.max(...rates) * 1.25], [HEIGHT_PX - 2, 2]);
  const at = (index: number): number => ((index + 0.5) / steps.length) * 100;
  const half = 36 / steps.length;
  const ticks: readonly Tick[] = [...new Set(steps.map((step) => step.rate))]
    .toSorted((a, b) => a - b)
    .map((one) => ({ at: y(one), label: rate(one) }))
    .filter((tick, index, all) => index === 0 || (all[index - 1]?.at ?? 0) - tick.at > 15);
  return figure({
    title: "Rates that were tried",
    note: "Requests a second, on a logarithmic axis, one step after another. The line is what was asked for, the mark what was achieved.",
    legend: [
      ["steps-held", "held"],
      ["steps-gave", "gave way"],
      ["steps-spoilt", "spoilt: says nothing of the service"],
    ],
    picture: plot({
      label: `${steps.length} steps from ${rate(Math.min(...steps.map((step) => step.rate)))} to ${rate(Math.max(...steps.map((step) => step.rate)))} requests a second; ${highestRate === undefined ? "none held" : `the highest that held is ${rate(highestRate)}`}.`,
      heightPx: HEIGHT_PX,
      x: steps.map((_, index) => ({ at: at(index), label: String(index + 1) })),
      y: ticks,
      shapes: steps.map((step, index) =>
        el("line", {
          class: "asked",
          x1: round(at(index) - half),
          x2: round(at(index) + half),
          y1: round(y(step.rate)),
          y2: round(y(step.rate)),
        }),
      ),
      marks: steps.map((step, index) =>
        markOf(step, percent(at(index)), round(y(step.achieved || step.rate))),
      ),
    }),
  });
};

const markOf = ({ verdict }: BreakpointStep, x: string, y: number): VNode => {
  if (verdict === "gave way")
    return el(
      "svg",
      { class: "broken", x, y, overflow: "visible" },
      el("rect", { class: "steps-gave", x: -5.5, y: -5.5, width: 11, height: 11 }),
    );
  return el("circle", {
    class: verdict === "held" ? "steps-held" : "steps-spoilt",
    cx: x,
    cy: y,
    r: verdict === "held" ? 6 : 5,
  });
};
