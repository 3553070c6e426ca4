import { isFailing, type History, type ListedRun, type Point, type Series } from "../history/history.ts";
import { change, figure as number, latency, minuteOf, moment, plural, rate } from "../text/figures.ts";
import {
  code,
  doc,
  file,
  given,
  lines,
  mark,
  outcomeLook,
  section,
  soft,
  table,
  tableSection,
  type Doc,
  type Icon,
  type Look,
  type Section,
  type Text,
} from "./model.ts";

/** The number of runs that a small trend shows. */
const MOST_POINTS = 24;

/** Where a page finds a run's report or record. */
type LinkTo = (run: string) => string | undefined;

export const historyDoc = (history: History, linkTo: LinkTo = () => undefined): Doc => {
  const { folder, runs, series, leftOut, problems } = history;
  const named = (name: string): Text => {
    const to = linkTo(name);
    return to === undefined ? code(name) : file(to, code(name));
  };
  const [first] = series;
  return doc({
    title: `${folder}: ${plural(runs.length, "run")}`,
    ...answerOf(history),
    detail: detailOf(history),
    about: [["Folder", code(folder)]],
    sections: [
      ...targetSections(history, named),
      first !== undefined &&
        series.length === 1 &&
        tableSection(
          "values",
          "Run by run",
          ["Run", "Started", ">Value"],
          first.points
            .map(({ name, startedAt, value }) => [named(name), moment(startedAt), amount(first, value)])
            .toReversed(),
        ),
      tableSection(
        "runs",
        "All runs",
        ["Run", "Started", "Of", "Outcome"],
        runs
          .map((run) => [
            named(run.name),
            moment(run.startedAt),
            lines(run.behaviour === undefined ? run.target : `${run.target} (${run.behaviour})`, run.asked),
            mark(...outcomeOf(run, leftOut)),
          ])
          .toReversed(),
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

/** The latest run of each target and of what was asked for. */
const latestOf = ({ runs }: History): readonly ListedRun[] => [
  ...new Map(runs.map((run) => [`${run.target} ${run.asked}`, run])).values(),
];

/** The worst of the latest runs decides. One that cannot be read may be the latest, so there is no tick beside it. */
const answerOf = (history: History): Pick<Doc, "look" | "headline"> => {
  const { inFolder, leftOut, problems } = history;
  const latest = latestOf(history);
  const looks = latest.map((run) => outcomeOf(run, leftOut)[0]);
  const bad = latest.filter((_, at) => looks[at]?.[0] !== "good");
  const names = bad.map((run) => `${run.target} (${run.asked})`);
  const readable = problems.length === 0 ? "" : "readable ";
  const said =
    latest.length === 0
      ? inFolder > 0 && "No run matches"
      : latest.length === 1
        ? `The latest ${readable}run: ${outcomeOf(latest[0], leftOut)[1]}`
        : bad.length === 0
          ? `The latest ${readable}run of each target passed`
          : `The latest ${readable}run did not pass: ${names.slice(0, MOST_NAMED).join(", ")}${names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ""}`;
  const parts = given([said, problems.length > 0 && `${plural(problems.length, "run")} cannot be read`]);
  const worst = looks.toSorted((a, b) => severity.indexOf(b[1]) - severity.indexOf(a[1]))[0];
  return {
    look:
      worst === undefined || (worst[0] === "good" && problems.length > 0) ? outcomeLook("incomplete") : worst,
    headline: `${parts.length === 0 ? "There are no runs yet" : parts.join("; ")}.`,
  };
};
const MOST_NAMED = 3;
const severity: readonly Icon[] = ["check", "unequal", "dots", "question", "hash", "cross"];

/** A run that is left out has no tick, although its own outcome may be that it passed. */
const outcomeOf = (run: ListedRun | undefined, leftOut: History["leftOut"]): readonly [Look, string] =>
  run?.outcome === "passed" && leftOut.some(({ name }) => name === run.name)
    ? [outcomeLook("incomplete"), "passed, but incomplete"]
    : [outcomeLook(run?.outcome), run?.outcome ?? "cut off"];

const isFailingNow = ({ points }: Series): boolean => {
  const latest = points.at(-1);
  return latest !== undefined && isFailing(latest);
};

const detailOf = ({ rule, runs, inFolder, series, leftOut }: History): string => {
  if (runs.length === 0) return inFolder === 0 ? "" : `0 of ${plural(inFolder, "run")}.`;
  const count = plural(runs.length, "run");
  if (leftOut.length === runs.length) return `${count}; none complete.`;
  const [first] = series;
  if (first === undefined)
    return `${count}; ${rule === undefined ? "no rule failed" : `no verdict on ${rule}`} in a complete run.`;
  const failing = series.filter(isFailingNow).length;
  return `${count}; ${given([
    failing > 0 && `${plural(failing, "rule or objective", "rules and objectives")} failing now`,
    first.newest === undefined
      ? "nothing changed"
      : `the newest change: ${first.what} in ${first.newest.name}`,
  ]).join("; ")}.`;
};

/** Of each target one table: what fails now first, then the newest change. */
const targetSections = (history: History, named: (run: string) => Text): readonly Section[] =>
  [...Map.groupBy(history.series, ({ target }) => target)].map(([target, some], at) => {
    const inOrder = [...some.filter(isFailingNow), ...some.filter((one) => !isFailingNow(one))];
    const isMixed = new Set(some.map(({ asked }) => asked)).size > 1;
    return section(
      `target-${at + 1}`,
      target,
      table(
        `Rules and metrics of ${target}`,
        ["Rule or metric", ">Now", "Since", ">How often", "Trend", "Run"],
        inOrder.map((one) => seriesRow(one, isMixed, named)),
      ),
    );
  });

const seriesRow = (series: Series, isMixed: boolean, named: (run: string) => Text): readonly Text[] => {
  const { what, asked, points, newest } = series;
  const latest = points.at(-1)?.value ?? "";
  const since = newest ?? points[0];
  const by = (before: unknown, after: unknown): string =>
    typeof before === "number" && typeof after === "number" ? ` (${change(after / before)})` : "";
  return [
    lines(code(what), isMixed && soft(asked)),
    typeof latest === "string" ? mark(lookOfWord(latest), latest) : amount(series, latest),
    lines(
      since === undefined ? "" : minuteOf(since.startedAt),
      soft(
        newest === undefined
          ? "the first run"
          : `${amount(series, newest.before)} to ${amount(series, newest.value)}${by(newest.before, newest.value)}`,
      ),
    ),
    typeof latest === "string"
      ? `failed ${number(points.filter(isFailing).length)} of ${number(points.length)}`
      : plural(points.length, "run"),
    trendOf(points.slice(-MOST_POINTS)),
    since === undefined ? "" : named(since.name),
  ];
};

const amount = ({ what }: Series, value: Point["value"]): string => {
  if (typeof value === "string") return value;
  return what.endsWith("per second") ? `${rate(value)}/s` : latency(value);
};

const wordLooks: Readonly<Record<string, Look>> = {
  passed: ["good", "check"],
  failed: ["bad", "cross"],
  warned: ["warn", "alert"],
  observed: ["seen", "ring"],
  drifted: ["warn", "unequal"],
};
const lookOfWord = (word: string): Look => wordLooks[word] ?? ["open", "question"];

const trendOf = (points: readonly Point[]): Text => {
  const numbers = points.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  return {
    is: "trend",
    values: numbers.length > 0 ? numbers : points.map(({ value }) => lookOfWord(String(value))),
  };
};
