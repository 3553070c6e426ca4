import type { DatabaseSync, SQLInputValue } from "node:sqlite";

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

/** The runs that a filter lets through, as a sub-query with its values. */
export const chosen = (
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

export type Row = Readonly<Record<string, unknown>>;
/** A column as text, or as a number. */
export const text = (row: Row, name: string): string => (typeof row[name] === "string" ? row[name] : "");
export const number = (row: Row, name: string): number => (typeof row[name] === "number" ? row[name] : 0);
export const kindOf = (row: Row): "conform" | "load" => (row["kind"] === "load" ? "load" : "conform");

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
