import {
  changesNeed,
  isFailing,
  type History,
  type ListedRun,
  type RuleHistory,
  type Trend,
} from "../history/index.ts";
import {
  figure as number,
  moment,
  plural,
  change,
  latency,
  percent,
  sparkline,
  rate,
} from "../text/figures.ts";
import { isVerdict } from "../text/verdicts.ts";
import {
  code,
  doc,
  figure,
  given,
  mark,
  section,
  softText,
  strong,
  table,
  tableSection,
  type Doc,
  type Figure,
  type Look,
  type Text,
} from "./model.ts";
import { lookOf, outcomeLook, symbolOfIcon } from "./looks.ts";

const MOST_RUNS = 200;
const MOST_POINTS = 500;
/** The number of points that fit on a line of text. */
const MOST_BRIEF = 50;

export const historyDoc = (history: History): Doc => {
  const { folder, rule, runs, trends, rules, flaky, leftOut, problems } = history;
  return doc({
    title: `${folder}: ${plural(runs.length, "run")}`,
    ...answerOf(history),
    detail: detailOf(history),
    about: [["Folder", code(folder)]],
    sections: [
      section("trends", "Load, run by run", ...drawn(trends).map(trendFigure)),
      section(
        "rules",
        rule === undefined ? "Rules that did not always pass" : `Verdicts of ${rule}`,
        ...rules.map(ruleFigure),
      ),
      tableSection(
        "flaky",
        "Flaky rules",
        ["Rule", "Target", ">Failed", ">Changed", ">Change rate"],
        flaky.map((one) => [
          code(one.id),
          one.target,
          `${number(one.failed)} of ${number(one.judged)}`,
          plural(one.flips, "time"),
          percent(one.rate),
        ]),
      ),
      section("runs", "All runs", ...runList(runs, leftOut)),
      tableSection(
        "left-out",
        "Incomplete, so in no trend",
        ["Run", "Why"],
        leftOut.map(({ name, reason }) => [code(name), reason]),
        "Incomplete runs",
      ),
      tableSection(
        "problems",
        "Unreadable",
        ["Run", "Why"],
        problems.map(({ name, problem }) => [code(name), problem]),
        "Unreadable run directories",
      ),
    ],
    source: `the run directories in ${folder}`,
  });
};

/** Whatever the readable runs say, one that cannot be read may be the latest, so there is no tick beside it. */
const answerOf = ({ runs, inFolder, leftOut, problems }: History): Pick<Doc, "look" | "headline"> => {
  const latest = runs.at(-1);
  const [look, outcome] = outcomeOf(latest, leftOut);
  const unread = `${plural(problems.length, "run")} cannot be read`;
  const told =
    latest === undefined
      ? inFolder > 0 && "No run matches"
      : `The latest ${problems.length === 0 ? "" : "readable "}run: ${outcome}`;
  const parts = [told, problems.length > 0 && unread].filter((part) => part !== false);
  return {
    look: look[0] === "good" && problems.length > 0 ? outcomeLook("incomplete") : look,
    headline: `${parts.length === 0 ? "There are no runs yet" : parts.join("; ")}.`,
  };
};

const detailOf = ({ rule, runs, inFolder, trends, rules, flaky, leftOut }: History): string => {
  if (runs.length === 0) return inFolder === 0 ? "" : `0 of ${plural(inFolder, "run")}.`;
  const count = plural(runs.length, "run");
  if (leftOut.length === runs.length) return `${count}; none complete.`;
  const ofAll =
    rules.length === 0
      ? `no rule failed${leftOut.length === 0 ? "" : " in a complete run"}`
      : `${plural(rules.length, "rule")} did not always pass, ${number(flaky.length)} of them flaky`;
  return `${given([count, ofTrends(trends), rule === undefined ? ofAll : ofRule(rule, rules)]).join("; ")}.`;
};

/** Where nothing could be found, that nothing was found says nothing. */
const ofTrends = (trends: readonly Trend[]): string | undefined => {
  if (trends.length === 0) return undefined;
  const changes = trends.reduce((sum, { changes: some }) => sum + some.length, 0);
  if (changes > 0) return `trends changed in ${plural(changes, "place")}`;
  const { runs, latestUntold } = changesNeed;
  const short = trends.filter(({ points }) => points.length < runs).length;
  const needed = `(${number(runs)} are needed)`;
  if (short === trends.length) return `too few runs to find a change in a trend ${needed}`;
  const found = `no change found in ${plural(trends.length - short, "trend")}, where one in the latest ${number(latestUntold)} runs cannot be told yet`;
  return short === 0
    ? found
    : `${found}, and too few runs to find one in ${plural(short, "trend")} ${needed}`;
};

const ofRule = (rule: string, rules: readonly RuleHistory[]): string => {
  const points = rules.flatMap((one) => one.points);
  return points.length === 0
    ? `no complete run has a verdict on ${rule}`
    : `${rule} failed in ${number(points.filter(isFailing).length)} of ${plural(points.length, "run")} with a verdict on it`;
};

/** A single run is not a trend. Changes come first. */
const drawn = (trends: readonly Trend[]): readonly Trend[] =>
  trends
    .filter(({ points }) => points.length > 1)
    .toSorted((a, b) => Number(b.changes.length > 0) - Number(a.changes.length > 0));

const isLatency = ({ metric }: Trend): boolean => metric.startsWith("p");

const amount = (trend: Trend, value: number): string =>
  isLatency(trend) ? latency(value) : `${rate(value)}/s`;

/** The latest runs, at most as many as fit in a picture. */
const latestOf = (whole: Trend): Trend => {
  const from = Math.max(0, whole.points.length - MOST_POINTS);
  return {
    ...whole,
    points: whole.points.slice(from),
    changes: whole.changes.flatMap((one) => (one.at < from ? [] : [{ ...one, at: one.at - from }])),
  };
};

const trendFigure = (whole: Trend): Figure => {
  const trend = latestOf(whole);
  const { endpoint, metric, points, changes } = trend;
  const values = points.map(({ value }) => value);
  const ends = `${amount(trend, values[0] ?? 0)} at first, ${amount(trend, values.at(-1) ?? 0)} at last`;
  const said = changes.map(({ at, before, after, p }) =>
    strong(
      `From ${points[at]?.name ?? ""} on: ${amount(trend, after)} instead of ${amount(trend, before)} (${change(after / before)}, p = ${p.toFixed(3)}). `,
    ),
  );
  const rows = table(
    `${endpoint} ${metric} by run`,
    ["Run", "Started", `>${metric}`, "Change"],
    points.map(({ name, startedAt, value }, at) => {
      const changed = changes.find((other) => other.at === at);
      return [
        name,
        moment(startedAt),
        amount(trend, value),
        changed === undefined
          ? ""
          : `from ${amount(trend, changed.before)} to ${amount(trend, changed.after)}`,
      ];
    }),
  );
  return figure({
    title: `${endpoint} ${metric}`,
    note: [
      `${trend.target}, ${trend.scenario}, ${trend.shape}, ${rate(trend.rate)} requests a second. `,
      points.length < whole.points.length
        ? `The latest ${number(points.length)} of ${plural(whole.points.length, "run")}. `
        : "",
      ...said,
    ],
    picture: {
      is: "trend",
      trend,
      label: `${endpoint} ${metric} over ${plural(points.length, "run")}: ${ends}${changes.length === 0 ? "" : `, ${plural(changes.length, "change")}`}.`,
    },
    brief: [`${sparkline(values, MOST_BRIEF)}  ${ends}`],
    table: rows,
  });
};

const ruleFigure = ({ id, target, kind, points }: RuleHistory): Figure => {
  const shown = points.slice(-MOST_RUNS);
  const brief = points.slice(-MOST_BRIEF);
  return figure({
    title: id,
    note: [
      kind === "load" ? `${target}, under load` : target,
      shown.length < points.length
        ? `. The latest ${number(shown.length)} of ${plural(points.length, "run")}.`
        : "",
    ],
    picture: { is: "verdicts", label: `Verdicts of ${id}`, points: shown },
    brief: [
      `${brief.length < points.length ? "… " : ""}${brief.map(({ verdict }) => (isVerdict(verdict) ? symbolOfIcon[lookOf[verdict][1]] : "?")).join("")}`,
    ],
  });
};

/** A run that is left out has no tick, although its own outcome may be that it passed. */
const outcomeOf = (
  run: ListedRun | undefined,
  leftOut: History["leftOut"],
): readonly [look: Look, outcome: string] =>
  run?.outcome === "passed" && leftOut.some(({ name }) => name === run.name)
    ? [outcomeLook("incomplete"), "passed, but incomplete"]
    : [outcomeLook(run?.outcome), run?.outcome ?? "cut off"];

const runList = (runs: readonly ListedRun[], leftOut: History["leftOut"]) => {
  const shown = runs.slice(-MOST_RUNS).toReversed();
  return [
    shown.length < runs.length &&
      softText(`The latest ${number(shown.length)} of ${plural(runs.length, "run")}.`),
    table(
      "All runs",
      ["Run", "Started", "What", "Target", "Outcome"],
      shown.map((run): readonly Text[] => [
        code(run.name),
        moment(run.startedAt),
        run.scenario === undefined ? "gate" : `${run.scenario} at ${rate(run.rate ?? 0)}/s`,
        run.behaviour === undefined ? run.target : `${run.target} (${run.behaviour})`,
        mark(...outcomeOf(run, leftOut)),
      ]),
    ),
  ];
};
