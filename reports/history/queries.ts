import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { changePoints, usualChangePoints, type ChangePoint } from "../statistics/change-points.ts";
import { seededRandom } from "../statistics/random.ts";

/** Which runs are meant; what is left out lets all through. */
export interface HistoryFilter {
  readonly kind?: "conform" | "load";
  /** Name of the target. */
  readonly target?: string;
  readonly outcome?: string;
  /** ISO 8601; runs that started at this moment or later. */
  readonly since?: string;
  /** Only so many of the latest. */
  readonly last?: number;
}

export interface ListedRun {
  /** Name of the run directory within the folder. */
  readonly name: string;
  readonly kind: "conform" | "load";
  readonly startedAt: string;
  readonly state: "open" | "sealed";
  readonly outcome?: string;
  readonly target: string;
  readonly behaviour?: string;
  readonly scenario?: string;
  readonly rate?: number;
}

/** One metric of one endpoint over the runs of one fingerprint, with the places where its level changed. */
export interface Trend {
  readonly target: string;
  readonly scenario: string;
  readonly shape: string;
  readonly rate: number;
  /** Canonical JSON; runs with other ones make other trends. */
  readonly fingerprint: string;
  readonly endpoint: string;
  readonly metric: string;
  readonly points: readonly { readonly name: string; readonly startedAt: string; readonly value: number }[];
  readonly changes: readonly ChangePoint[];
}

/** What one rule came to, run after run, on one target. */
export interface RuleHistory {
  readonly id: string;
  readonly target: string;
  readonly kind: "conform" | "load";
  readonly points: readonly { readonly name: string; readonly startedAt: string; readonly verdict: string }[];
}

/** A rule that changes to and fro between holding and failing. */
export interface FlakyRule {
  readonly id: string;
  readonly target: string;
  readonly kind: "conform" | "load";
  /** Runs in which it held or failed, and in how many it failed. */
  readonly judged: number;
  readonly failed: number;
  /** How often it changed from one run to the next. */
  readonly flips: number;
  /** Flips as a share of how many there could be. */
  readonly rate: number;
}

/** The runs that a filter lets through, as a sub-query with its values. */
const chosen = (
  filter: HistoryFilter,
  condition = "1",
): { sql: string; values: readonly SQLInputValue[] } => {
  const conditions = [condition, "problem IS NULL"];
  const values: SQLInputValue[] = [];
  const add = (text: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return;
    conditions.push(text);
    values.push(value);
  };
  add("kind = ?", filter.kind);
  add("target = ?", filter.target);
  add("coalesce(outcome, 'open') = ?", filter.outcome);
  add("started_at >= ?", filter.since);
  const limit = filter.last === undefined ? "" : " LIMIT ?";
  if (filter.last !== undefined) values.push(filter.last);
  return {
    sql: `SELECT * FROM runs WHERE ${conditions.join(" AND ")} ORDER BY started_at DESC, name DESC${limit}`,
    values,
  };
};

type Row = Readonly<Record<string, unknown>>;
const text = (row: Row, name: string): string => (typeof row[name] === "string" ? row[name] : "");
const number = (row: Row, name: string): number => (typeof row[name] === "number" ? row[name] : 0);
const kindOf = (row: Row): "conform" | "load" => (row["kind"] === "load" ? "load" : "conform");

/** The runs, the latest last. */
export const listRuns = (database: DatabaseSync, filter: HistoryFilter): readonly ListedRun[] => {
  const { sql, values } = chosen(filter);
  return database
    .prepare(sql)
    .all(...values)
    .toReversed()
    .map((row) => ({
      name: text(row, "name"),
      kind: kindOf(row),
      startedAt: text(row, "started_at"),
      state: row["state"] === "open" ? "open" : "sealed",
      target: text(row, "target"),
      ...(row["outcome"] === null ? {} : { outcome: text(row, "outcome") }),
      ...(row["behaviour"] === null ? {} : { behaviour: text(row, "behaviour") }),
      ...(row["scenario"] === null ? {} : { scenario: text(row, "scenario"), rate: number(row, "rate") }),
    }));
};

/** Run directories that cannot be read, with the reasons. */
export const listProblems = (
  database: DatabaseSync,
): readonly { readonly name: string; readonly problem: string }[] =>
  database
    .prepare("SELECT name, problem FROM runs WHERE problem IS NOT NULL ORDER BY name")
    .all()
    .map((row) => ({ name: text(row, "name"), problem: text(row, "problem") }));

/** Change points are looked for in so many of the latest values: the far past changes nothing that anyone can still mend. */
const MOST_VALUES = 200;

/**
 * Trends of valid load runs. Change points are those of the logarithm, by E-divisive with a permutation
 * test whose seed is fixed: the same runs always give the same ones.
 */
export const trendsOf = (
  database: DatabaseSync,
  filter: HistoryFilter & { readonly endpoint?: string; readonly metric?: string },
): readonly Trend[] => {
  const { sql, values } = chosen({ ...filter, kind: "load" }, "usable = 1");
  const wanted = [
    ...values,
    filter.endpoint ?? null,
    filter.endpoint ?? null,
    filter.metric ?? null,
    filter.metric ?? null,
  ];
  const rows = database
    .prepare(
      `SELECT runs.*, endpoint, metric, value FROM (${sql}) AS runs JOIN figures ON figures.run = runs.name
       WHERE (endpoint = ? OR ? IS NULL) AND (metric = ? OR ? IS NULL)
       ORDER BY fingerprint, endpoint, metric, started_at, runs.name`,
    )
    .all(...wanted);
  const grouped = Map.groupBy(rows, (row) =>
    [text(row, "fingerprint"), text(row, "endpoint"), text(row, "metric")].join("\n"),
  );
  return [...grouped.values()].map((members) => {
    const [first = {}] = members;
    const points = members.map((row) => ({
      name: text(row, "name"),
      startedAt: text(row, "started_at"),
      value: number(row, "value"),
    }));
    return {
      target: text(first, "target"),
      scenario: text(first, "scenario"),
      shape: text(first, "shape"),
      rate: number(first, "rate"),
      fingerprint: text(first, "fingerprint"),
      endpoint: text(first, "endpoint"),
      metric: text(first, "metric"),
      points,
      changes: changesOf(points.map(({ value }) => value)),
    };
  });
};

const changesOf = (values: readonly number[]): readonly ChangePoint[] => {
  const from = Math.max(0, values.length - MOST_VALUES);
  const logs = values.slice(from).map((value) => Math.log(Math.max(value, Number.MIN_VALUE)));
  return changePoints(logs, { ...usualChangePoints, random: seededRandom(1) }).map((change) => ({
    ...change,
    at: from + change.at,
    before: Math.exp(change.before),
    after: Math.exp(change.after),
  }));
};

/**
 * Verdicts over time: of one rule where an id is given, otherwise of those that ever did anything else than
 * hold, be observed or not apply. Reading those that always held would take longer than all the rest.
 */
export const ruleHistories = (
  database: DatabaseSync,
  filter: HistoryFilter & { readonly rule?: string },
): readonly RuleHistory[] => {
  const { sql, values } = chosen(filter);
  const wanted =
    filter.rule === undefined
      ? `id IN (SELECT DISTINCT id FROM chosen JOIN rules ON rules.run = chosen.name
           WHERE verdict NOT IN ('passed', 'observed', 'not-applicable'))`
      : "id = ?";
  const rows = database
    .prepare(
      `WITH chosen AS MATERIALIZED (${sql})
       SELECT chosen.name, kind, started_at, target, id, verdict FROM chosen
       JOIN rules ON rules.run = chosen.name WHERE ${wanted}
       ORDER BY id, target, kind, started_at, chosen.name`,
    )
    .all(...values, ...(filter.rule === undefined ? [] : [filter.rule]));
  const grouped = Map.groupBy(rows, (row) => [row["id"], row["target"], row["kind"]].join("\n"));
  return [...grouped.values()].map((members) => {
    const [first = {}] = members;
    return {
      id: text(first, "id"),
      target: text(first, "target"),
      kind: kindOf(first),
      points: members.map((row) => ({
        name: text(row, "name"),
        startedAt: text(row, "started_at"),
        verdict: text(row, "verdict"),
      })),
    };
  });
};

/** One change may be a defect that came, or one that went; from two on a rule goes to and fro. */
const LEAST_FLIPS = 2;

/** Rules that change to and fro between holding and failing, the most restless first. */
export const flakyRules = (histories: readonly RuleHistory[]): readonly FlakyRule[] =>
  histories
    .map(({ id, target, kind, points }): FlakyRule => {
      const fails = points
        .filter(({ verdict }) => ["passed", "failed", "warned"].includes(verdict))
        .map(({ verdict }) => verdict !== "passed");
      const flips = fails.filter((value, at) => at > 0 && value !== fails[at - 1]).length;
      const failed = fails.filter(Boolean).length;
      const rate = fails.length < 2 ? 0 : flips / (fails.length - 1);
      return { id, target, kind, judged: fails.length, failed, flips, rate };
    })
    .filter(({ flips }) => flips >= LEAST_FLIPS)
    .toSorted((a, b) => b.rate - a.rate || (a.id < b.id ? -1 : 1));
