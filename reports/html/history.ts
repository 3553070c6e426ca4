import { line } from "d3-shape";
import { scaleLinear } from "d3-scale";
import type { VNode } from "preact";
import type { History, ListedRun, RuleHistory, Trend } from "../history/index.ts";
import { figure as number, plural } from "../text/figures.ts";
import { latency, percent } from "../text/latency.ts";
import { rate } from "../text/units.ts";
import { looksOf } from "./answer.ts";
import { percent as share, plot, round } from "./chart.ts";
import { el, type Child } from "./element.ts";
import { mark, toneMark } from "./mark.ts";
import { table, figure } from "./parts.ts";
import type { Part } from "./part.ts";
import { roundLatency, upScale } from "./scales.ts";
import { renderPage, sectionsOf } from "./shell.ts";
import { isVerdict } from "../text/verdicts.ts";

const MOST_RUNS = 200;
const MOST_POINTS = 500;
const TREND_PX = 110;

/** The history of a folder of runs as one page: latencies run by run with the places where they changed, rules that did not always hold, all runs. */
export const renderHistoryHtml = (history: History): string => {
  const parts = partsOf(history);
  const latest = history.runs.at(-1);
  const { tone, icon } = looksOf(latest?.outcome);
  const changes = history.trends.reduce((sum, { changes }) => sum + changes.length, 0);
  return renderPage({
    title: `${history.folder}: ${plural(history.runs.length, "run")}`,
    tone,
    contents: [{ title: "History", id: "answer", parts }],
    main: [
      el(
        "section",
        { class: "overview", "aria-labelledby": "answer" },
        el(
          "div",
          { class: "answer" },
          toneMark(tone, icon, latest?.outcome ?? "no run"),
          el(
            "div",
            {},
            el(
              "h1",
              { id: "answer" },
              latest === undefined
                ? "There is no run yet."
                : `The latest run: ${latest.outcome ?? "cut off"}.`,
            ),
            el(
              "p",
              { class: "detail" },
              `${plural(history.runs.length, "run")}; latencies changed in ${plural(changes, "place")}; ${plural(history.rules.length, "rule")} did not always hold, ${number(history.flaky.length)} to and fro.`,
            ),
          ),
        ),
      ),
      sectionsOf(parts),
      el("footer", { class: "soft" }, `Written by Touchstone from the run directories in ${history.folder}.`),
    ],
  });
};

const partsOf = ({ trends, rules, flaky, runs, problems }: History): readonly Part[] => [
  ...(trends.length === 0 ? [] : [{ id: "trends", title: "Load, run by run", content: trends.map(trend) }]),
  ...(rules.length === 0
    ? []
    : [{ id: "rules", title: "Rules that did not always hold", content: rules.map(ruleRow) }]),
  ...(flaky.length === 0
    ? []
    : [
        {
          id: "flaky",
          title: "Flaky rules",
          content: [
            table(
              "Flaky rules",
              ["Rule", "Target", "Failed", "Changed", "Of what it could"],
              flaky.map((one) => [
                el("code", {}, one.id),
                one.target,
                `${number(one.failed)} of ${number(one.judged)}`,
                plural(one.flips, "time"),
                percent(one.rate),
              ]),
              [2, 3, 4],
            ),
          ],
        },
      ]),
  { id: "runs", title: "All runs", content: runList(runs) },
  ...(problems.length === 0
    ? []
    : [
        {
          id: "problems",
          title: "Cannot be read",
          content: [
            table(
              "Run directories that cannot be read",
              ["Run", "Why"],
              problems.map(({ name, problem }) => [name, problem]),
            ),
          ],
        },
      ]),
];

const isLatency = ({ metric }: Trend): boolean => metric.startsWith("p");
const amount = (trend: Trend, value: number): string =>
  isLatency(trend) ? latency(value) : `${rate(value)}/s`;

/** As many of the latest runs as a picture has room for. */
const latest = (whole: Trend): Trend => {
  const from = Math.max(0, whole.points.length - MOST_POINTS);
  return {
    ...whole,
    points: whole.points.slice(from),
    changes: whole.changes.flatMap((change) =>
      change.at < from ? [] : [{ ...change, at: change.at - from }],
    ),
  };
};

/** One metric over the runs, the same distance apart; a change of level is a step of the line beneath. */
const trend = (whole: Trend): VNode => {
  const one = latest(whole);
  const { points, changes } = one;
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [1, 99]);
  const y = upScale(Math.max(...points.map(({ value }) => value)) * 1.1, TREND_PX, (value) =>
    isLatency(one) ? roundLatency(value) : rate(value),
  );
  const path = line<Trend["points"][number]>(
    (_, at) => x(at),
    ({ value }) => y.at(value),
  ).digits(2);
  const ends = [0, points.length - 1].filter((at, index, all) => all.indexOf(at) === index);
  return figure({
    title: `${one.endpoint} ${one.metric}`,
    note: [
      `${one.target}, ${one.scenario}, ${one.shape}, ${rate(one.rate)} requests a second. `,
      points.length < whole.points.length &&
        `The latest ${number(points.length)} of ${plural(whole.points.length, "run")}. `,
      changes.map(({ at, before, after, p }) =>
        el(
          "b",
          {},
          `From ${points[at]?.name ?? ""} on: ${amount(one, after)} instead of ${amount(one, before)} (p = ${p.toFixed(3)}). `,
        ),
      ),
    ],
    picture: plot({
      label: `${one.endpoint} ${one.metric} over ${plural(points.length, "run")}: ${amount(one, points[0]?.value ?? 0)} at first, ${amount(one, points.at(-1)?.value ?? 0)} at last, ${plural(changes.length, "change")}.`,
      heightPx: TREND_PX,
      x: ends.map((at) => ({ at: x(at), label: points[at]?.startedAt.slice(0, 10) ?? "" })),
      y: y.ticks,
      shapes: [
        el("path", { class: "line-p50", d: path([...points]) ?? "" }),
        el("path", {
          class: "dots-run",
          d: points.map(({ value }, at) => `M${round(x(at))},${round(y.at(value))}h0`).join(""),
        }),
      ],
      marks: changes.map(({ at, before, after }) =>
        el("line", {
          class: after > before === isLatency(one) ? "change worse" : "change",
          x1: share(x(at - 0.5)),
          x2: share(x(at - 0.5)),
          y1: 0,
          y2: TREND_PX,
        }),
      ),
    }),
    table: table(
      `${one.endpoint} ${one.metric} by run`,
      ["Run", "Started", one.metric, "Change"],
      points.map(({ name, startedAt, value }, at) => {
        const change = changes.find((other) => other.at === at);
        return [
          name,
          startedAt,
          amount(one, value),
          change === undefined ? "" : `from ${amount(one, change.before)} to ${amount(one, change.after)}`,
        ];
      }),
      [2],
    ),
  });
};

/** What a rule came to in each of the latest runs. */
const ruleRow = ({ id, target, kind, points }: RuleHistory): VNode => {
  const shown = points.slice(-MOST_RUNS);
  return el(
    "div",
    { class: "rule-history" },
    el("h3", {}, id, " ", el("span", { class: "soft" }, kind === "load" ? `${target}, under load` : target)),
    shown.length < points.length &&
      el("p", { class: "soft" }, `The latest ${number(shown.length)} of ${plural(points.length, "run")}.`),
    el(
      "ul",
      { class: "verdicts", "aria-label": `Verdicts of ${id}` },
      shown.map(({ name, verdict }) =>
        el(
          "li",
          { title: `${name}: ${verdict}` },
          isVerdict(verdict) ? mark(verdict) : toneMark("open", "question", verdict),
          el("span", { class: "heard" }, name),
        ),
      ),
    ),
  );
};

const runList = (runs: readonly ListedRun[]): readonly Child[] => {
  const shown = runs.slice(-MOST_RUNS).toReversed();
  return [
    shown.length < runs.length &&
      el("p", { class: "soft" }, `The latest ${number(shown.length)} of ${plural(runs.length, "run")}.`),
    table(
      "All runs",
      ["Run", "Started", "What", "Target", "Outcome"],
      shown.map((run) => {
        const { tone, icon } = looksOf(run.outcome);
        const outcome = run.outcome ?? "cut off";
        return [
          el("code", {}, run.name),
          run.startedAt.slice(0, 19).replace("T", " "),
          run.scenario === undefined ? "gate" : `${run.scenario} at ${rate(run.rate ?? 0)}/s`,
          run.behaviour === undefined ? run.target : `${run.target} (${run.behaviour})`,
          el("span", { class: "with-mark" }, toneMark(tone, icon, outcome), outcome),
        ];
      }),
    ),
  ];
};
