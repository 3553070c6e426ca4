import type { Outcome } from "../../conformance/contract/record.ts";
import path from "node:path";
import { canonicalJson } from "../../conformance/contract/verdict.ts";
import { fingerprintOf, targetNameOf } from "../compare/fingerprint.ts";
import { runsBelow } from "../read/folder.ts";
import type { Run } from "../read/index.ts";
import { leastRatio } from "../statistics/floors.ts";
import { whyIncomplete } from "../validity.ts";

/** Which runs are listed, and what is shown of them; an absent field matches everything. */
export interface HistoryQuestion {
  readonly kind?: "conform" | "load";
  readonly target?: string;
  /** ISO 8601; runs that started at or after this moment. */
  readonly since?: string;
  readonly last?: number;
  readonly rule?: string;
  readonly endpoint?: string;
  /** p50, p95, p99 or requests per second. */
  readonly metric?: string;
}

export interface ListedRun {
  readonly name: string;
  readonly kind: Run["kind"];
  readonly startedAt: string;
  readonly outcome?: Outcome | undefined;
  readonly target: string;
  readonly behaviour?: string | undefined;
  /** What was asked for: the gate's effort, or the load's scenario, shape and rate. */
  readonly asked: string;
}

export interface Point {
  readonly name: string;
  readonly startedAt: string;
  readonly value: number | string;
}

/** A metric, or the verdicts of a rule, over the complete runs with one fingerprint. */
export interface Series {
  /** A rule's id, or an endpoint and a metric: "list p95". */
  readonly what: string;
  readonly target: string;
  readonly asked: string;
  /** The earliest first. Latencies are in milliseconds. */
  readonly points: readonly Point[];
  /** The latest value that changed. */
  readonly newest?: Point & { readonly before: Point["value"] };
}

export interface History {
  readonly folder: string;
  /** The rule that was asked for, if only one was. */
  readonly rule?: string | undefined;
  /** Number of readable runs in the folder, selected or not. */
  readonly inFolder: number;
  /** The earliest first. */
  readonly runs: readonly ListedRun[];
  /** The newest change first: all metrics, and the rules that did not always pass, or the one that was asked for. */
  readonly series: readonly Series[];
  /** Runs that are listed but in no series, with reasons. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  readonly problems: readonly { readonly name: string; readonly problem: string }[];
}

/** The history of the run directories directly in a folder. Throws ConfigurationError if the folder cannot be read. */
export const historyOf = async (folder: string, question: HistoryQuestion = {}): Promise<History> => {
  const all: { readonly run: Run; readonly listed: ListedRun; readonly reason: string | undefined }[] = [];
  const problems: { name: string; problem: string }[] = [];
  for await (const { directory, run } of runsBelow(folder)) {
    const name = path.relative(folder, directory);
    if (typeof run === "string") problems.push({ name, problem: run });
    else all.push({ run, listed: listedOf(name, run), reason: whyIncomplete(run) });
  }
  const { kind, target, since = "", last = all.length, rule } = question;
  const chosen = all
    .filter(({ listed }) => (kind ?? listed.kind) === listed.kind)
    .filter(({ listed }) => (target ?? listed.target) === listed.target && listed.startedAt >= since)
    .toSorted(
      ({ listed: a }, { listed: b }) => compareText(a.startedAt, b.startedAt) || compareText(a.name, b.name),
    );
  const selected = chosen.slice(Math.max(0, chosen.length - last));
  const values = selected.flatMap(({ run, listed, reason }) => {
    const fingerprint = reason === undefined ? canonicalJson(fingerprintOf(run)) : "";
    return (reason === undefined ? valuesOf(run, question) : []).map((one) => ({
      ...one,
      listed,
      fingerprint,
    }));
  });
  return {
    folder,
    rule,
    inFolder: all.length,
    runs: selected.map(({ listed }) => listed),
    series: [...Map.groupBy(values, ({ what, fingerprint }) => `${what} ${fingerprint}`).values()]
      .flatMap(seriesOf)
      .filter(
        ({ points }) =>
          rule !== undefined || points.some((one) => typeof one.value === "number" || isFailing(one)),
      )
      .toSorted((a, b) => compareText(b.newest?.startedAt ?? "", a.newest?.startedAt ?? "")),
    leftOut: selected.flatMap(({ listed: { name }, reason }) =>
      reason === undefined ? [] : [{ name, reason }],
    ),
    problems,
  };
};

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

export const isFailing = ({ value }: Point): boolean => value === "failed" || value === "warned";

const listedOf = (name: string, { kind, record }: Run): ListedRun => ({
  name,
  kind,
  startedAt: record.startedAt,
  outcome: record.outcome,
  target: targetNameOf(record.target),
  behaviour: record.target.behaviour,
  asked:
    record.command === "load"
      ? `${record.scenario}, ${record.shape}, ${record.rate}/s`
      : `gate, ${record.effort}`,
});

type Value = Pick<Series, "what"> & Pick<Point, "value">;

const valuesOf = (
  { record }: Run,
  { rule, endpoint = "", metric = "" }: HistoryQuestion,
): readonly Value[] => {
  const ofMetrics = endpoint !== "" || metric !== "";
  return record.cases.flatMap(({ id: what, group, status, verdict, measured }): readonly Value[] => {
    if (status === "measured" && measured !== undefined && measured.unit !== "share") {
      const isAsked = what.startsWith(endpoint && `${endpoint} `) && what.endsWith(metric && ` ${metric}`);
      return (rule === undefined || ofMetrics) && isAsked ? [{ what, value: measured.value }] : [];
    }
    if (["load", "waivers", "speed"].includes(group) || verdict === "not checked") return [];
    return (rule === undefined ? !ofMetrics : what === rule) ? [{ what, value: verdict }] : [];
  });
};

/** So many runs before one say what is usual: noise stays within their range, and a new level leaves it. */
const USUAL_RUNS = 10;

const seriesOf = (some: readonly (Value & { readonly listed: ListedRun })[]): readonly Series[] => {
  const points = some.map(({ listed: { name, startedAt }, value }) => ({ name, startedAt, value }));
  const values = some.map(({ value }) => value);
  return some.slice(0, 1).map(({ what, listed: { target, asked } }) => {
    const newest = points
      .map((point, at) => ({ ...point, before: values[at - 1] ?? point.value }))
      .findLast(({ value }, at) => isChange(what, values.slice(Math.max(0, at - USUAL_RUNS), at), value));
    return { what, target, asked, points, ...(newest && { newest }) };
  });
};

/** Whether a verdict differs from the one before, or a figure lies beyond all of those before by what matters. */
export const isChange = (what: string, before: readonly Point["value"][], after: Point["value"]): boolean => {
  const figures = before.filter((value) => typeof value === "number");
  if (typeof after === "string" || figures.length === 0) return before.length > 0 && before.at(-1) !== after;
  const metric = what.slice(what.indexOf(" ") + 1);
  const isAbove = (high: number, low: number): boolean => high > low && high >= low * leastRatio(metric, low);
  return isAbove(after, Math.max(...figures)) || isAbove(Math.min(...figures), after);
};
