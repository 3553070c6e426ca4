import type { History, ListedRun, RuleHistory, Trend } from "../history/index.ts";
import { plural } from "../text/figures.ts";
import { change, latency, percent, sparkline } from "../text/latency.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page } from "./palette.ts";
import { table } from "./table.ts";
import { section } from "./totals.ts";

const MOST_RUNS = 30;
const MOST_POINTS = 50;

/** The runs of a folder: a list, the course of every latency with the places where it changed, and rules that did not always hold. */
export const renderHistory = (history: History, options: Page): string => {
  const page = fitted(options);
  const lines = [
    `${safe(history.folder)}  ${page.palette.dim(plural(history.runs.length, "run"))}`,
    ...section("Runs", runLines(history.runs, page), page),
    ...section(
      "Latency over time",
      history.trends.map((trend) => trendLines(trend, page)),
      page,
    ),
    ...section("Rules that did not always hold", rulesLines(history.rules, page), page),
    ...section("Flaky rules", flakyLines(history, page), page),
    ...section(
      "Cannot be read",
      history.problems.map(({ problem }) => wrap(safe(problem), page.columns - 2)),
      page,
    ),
  ];
  return `${lines.join("\n")}\n`;
};

const runLines = (runs: readonly ListedRun[], page: Page): string[][] => {
  const shown = runs.slice(-MOST_RUNS);
  const left = runs.length - shown.length;
  return shown.length === 0
    ? []
    : [
        [
          ...(left === 0 ? [] : [page.palette.dim(`… ${plural(left, "earlier run")} left out here`)]),
          ...table(shown.map((run) => runCells(run, page))),
        ],
      ];
};

const runCells = (run: ListedRun, { palette }: Page): string[] => {
  const outcome = run.outcome ?? "cut off";
  const paint = outcome === "passed" ? palette.green : outcome === "failed" ? palette.red : palette.yellow;
  const what = run.scenario === undefined ? "gate" : `${run.scenario} at ${run.rate ?? 0}/s`;
  return [
    safe(run.startedAt.slice(0, 19).replace("T", " ")),
    paint(outcome),
    safe(what),
    safe(run.behaviour === undefined ? run.target : `${run.target} (${run.behaviour})`),
    palette.dim(safe(run.name)),
  ];
};

const amount = (trend: Trend, value: number): string =>
  trend.metric.startsWith("p") ? latency(value) : value.toFixed(1);

const trendLines = (trend: Trend, { palette }: Page): string[] => {
  const values = trend.points.map(({ value }) => value);
  const title = `${palette.bold(`${safe(trend.endpoint)} ${safe(trend.metric)}`)}  ${palette.dim(safe(`${trend.target}, ${trend.scenario}, ${trend.shape}, ${trend.rate}/s`))}`;
  const ends = `${amount(trend, values[0] ?? 0)} → ${amount(trend, values.at(-1) ?? 0)}`;
  return [
    title,
    `  ${sparkline(values, MOST_POINTS)}  ${ends}`,
    ...trend.changes.map(({ at, before, after, p }) => {
      const point = trend.points[at];
      const paint = after > before === trend.metric.startsWith("p") ? palette.red : palette.green;
      return `  ${paint(change(after / before))} from ${safe(point?.name ?? "")} on  ${palette.dim(`${amount(trend, before)} → ${amount(trend, after)}, p = ${p.toFixed(3)}`)}`;
    }),
  ];
};

const marks: Readonly<Record<string, string>> = {
  passed: "✓",
  failed: "✗",
  warned: "!",
  observed: "·",
  "not-applicable": "-",
};

const rulesLines = (rules: readonly RuleHistory[], { palette, columns }: Page): string[][] => {
  const paint = (verdict: string): string => {
    const mark = marks[verdict] ?? "?";
    if (verdict === "failed") return palette.red(mark);
    return verdict === "passed" ? palette.green(mark) : palette.yellow(mark);
  };
  const lines = rules.flatMap(({ id, target, kind, points }) => {
    const shown = points.slice(-Math.min(MOST_POINTS, columns - 4));
    const left = points.length - shown.length;
    return [
      `${palette.bold(safe(id))}  ${palette.dim(safe(kind === "load" ? `${target}, under load` : target))}`,
      ...indent(
        [`${left > 0 ? palette.dim(`… `) : ""}${shown.map(({ verdict }) => paint(verdict)).join("")}`],
        2,
      ),
    ];
  });
  return lines.length === 0 ? [] : [lines];
};

const flakyLines = ({ flaky }: History, { palette }: Page): string[][] =>
  flaky.length === 0
    ? []
    : [
        table(
          flaky.map((rule) => [
            safe(rule.id),
            palette.dim(safe(rule.target)),
            `failed ${rule.failed} of ${rule.judged}`,
            `changed ${rule.flips} times, ${percent(rule.rate)} of what it could`,
          ]),
        ),
      ];
