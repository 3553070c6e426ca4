import { isFailing, type History, type ListedRun, type Point, type Series } from "../history/history.ts";
import { change, figure as number, latency, moment, plural, rate, sparkline } from "../text/figures.ts";
import { isVerdict } from "../text/verdicts.ts";
import {
  lookOf,
  outcomeLook,
  symbolOfIcon,
  code,
  doc,
  given,
  lines,
  mark,
  tableSection,
  type Doc,
  type Look,
  type Text,
} from "./model.ts";

/** The number of runs that a small trend shows. */
const MOST_POINTS = 24;

export const historyDoc = (history: History): Doc => {
  const { folder, runs, series, leftOut, problems } = history;
  const [first] = series;
  return doc({
    title: `${folder}: ${plural(runs.length, "run")}`,
    ...answerOf(history),
    detail: detailOf(history),
    about: [["Folder", code(folder)]],
    sections: [
      tableSection(
        "series",
        "Over time, the newest change first",
        ["Metric or rule", "Of", ">Latest", "Newest change", "Trend"],
        series.map(seriesRow),
      ),
      first !== undefined &&
        series.length === 1 &&
        tableSection(
          "values",
          "Run by run",
          ["Run", "Started", ">Value"],
          first.points
            .map(({ name, startedAt, value }) => [code(name), moment(startedAt), amount(first, value)])
            .toReversed(),
        ),
      tableSection(
        "runs",
        "All runs",
        ["Run", "Started", "Of", "Outcome"],
        runs.map((run) => runRow(run, leftOut)).toReversed(),
      ),
      tableSection(
        "left-out",
        "Incomplete or unreadable, so in no trend",
        ["Run", "Why"],
        [...leftOut, ...problems.map(({ name, problem }) => ({ name, reason: problem }))].map(
          ({ name, reason }) => [code(name), reason],
        ),
      ),
    ],
    source: `the run directories in ${folder}`,
  });
};

/** Whatever the readable runs say, one that cannot be read may be the latest, so there is no tick beside it. */
const answerOf = ({ runs, inFolder, leftOut, problems }: History): Pick<Doc, "look" | "headline"> => {
  const latest = runs.at(-1);
  const [look, outcome] = outcomeOf(latest, leftOut);
  const told =
    latest === undefined
      ? inFolder > 0 && "No run matches"
      : `The latest ${problems.length === 0 ? "" : "readable "}run: ${outcome}`;
  const parts = given([told, problems.length > 0 && `${plural(problems.length, "run")} cannot be read`]);
  return {
    look: look[0] === "good" && problems.length > 0 ? outcomeLook("incomplete") : look,
    headline: `${parts.length === 0 ? "There are no runs yet" : parts.join("; ")}.`,
  };
};

/** A run that is left out has no tick, although its own outcome may be that it passed. */
const outcomeOf = (run: ListedRun | undefined, leftOut: History["leftOut"]): readonly [Look, string] =>
  run?.outcome === "passed" && leftOut.some(({ name }) => name === run.name)
    ? [outcomeLook("incomplete"), "passed, but incomplete"]
    : [outcomeLook(run?.outcome), run?.outcome ?? "cut off"];

const detailOf = ({ rule, runs, inFolder, series: [first], leftOut }: History): string => {
  if (runs.length === 0) return inFolder === 0 ? "" : `0 of ${plural(inFolder, "run")}.`;
  const count = plural(runs.length, "run");
  if (leftOut.length === runs.length) return `${count}; none complete.`;
  if (first !== undefined)
    return `${count}; ${first.newest === undefined ? "nothing changed" : `the newest change: ${first.what} in ${first.newest.name}`}.`;
  return `${count}; ${rule === undefined ? "no rule failed" : `no verdict on ${rule}`} in a complete run.`;
};

const runRow = (run: ListedRun, leftOut: History["leftOut"]): readonly Text[] => [
  code(run.name),
  moment(run.startedAt),
  lines(run.behaviour === undefined ? run.target : `${run.target} (${run.behaviour})`, run.asked),
  mark(...outcomeOf(run, leftOut)),
];

const seriesRow = (series: Series): readonly Text[] => {
  const { what, target, asked, points, newest } = series;
  const latest = points.at(-1)?.value ?? "";
  const failed = `failed ${number(points.filter(isFailing).length)} of ${number(points.length)}`;
  const by = (before: unknown, after: unknown): string =>
    typeof before === "number" && typeof after === "number" ? ` (${change(after / before)})` : "";
  return [
    code(what),
    lines(target, asked),
    lines(amount(series, latest), typeof latest === "string" && failed),
    newest === undefined
      ? "none"
      : lines(
          moment(newest.startedAt),
          `${amount(series, newest.before)} → ${amount(series, newest.value)}${by(newest.before, newest.value)}`,
        ),
    trendOf(points.slice(-MOST_POINTS)),
  ];
};

const amount = ({ what }: Series, value: Point["value"]): string => {
  if (typeof value === "string") return value;
  return what.endsWith("per second") ? `${rate(value)}/s` : latency(value);
};

const trendOf = (points: readonly Point[]): string => {
  const numbers = points.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  const symbols = points.map(({ value }) =>
    typeof value === "string" && isVerdict(value) ? symbolOfIcon[lookOf[value][1]] : "?",
  );
  return numbers.length > 0 ? sparkline(numbers, MOST_POINTS) : symbols.join("");
};
