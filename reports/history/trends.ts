import type { DatabaseSync } from "node:sqlite";
import type { ChangePoint } from "../statistics/change-points.ts";
import { changeFinder } from "./changes.ts";
import { chosen, number, text, type HistoryFilter, type Row } from "./runs.ts";

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

/**
 * Trends of valid load runs. Change points are those of the logarithm, by E-divisive with a permutation
 * test whose seed is fixed: the same runs always give the same ones.
 */
export const trendsOf = (
  database: DatabaseSync,
  filter: HistoryFilter & { readonly endpoint?: string; readonly metric?: string },
): readonly Trend[] => {
  const { sql, values } = chosen({ ...filter, kind: "load" }, "usable = 1");
  const runs = database
    .prepare(sql)
    .all(...values)
    .toReversed();
  // Joined here and not by the database, which would copy what is said of a run beside each of its figures.
  const figures = Map.groupBy(
    database
      .prepare(
        "SELECT run, endpoint, metric, value FROM figures WHERE (endpoint = ?1 OR ?1 IS NULL) AND (metric = ?2 OR ?2 IS NULL)",
      )
      .all(filter.endpoint ?? null, filter.metric ?? null),
    ({ run }) => run,
  );
  const trends = new Map<
    string,
    { readonly run: Row; readonly figure: Row; readonly points: Trend["points"][number][] }
  >();
  for (const run of runs)
    for (const figure of figures.get(run["name"] ?? null) ?? []) {
      const key = `${text(run, "fingerprint")}\n${text(figure, "endpoint")}\n${text(figure, "metric")}`;
      const trend = trends.get(key) ?? { run, figure, points: [] };
      trends.set(key, trend);
      trend.points.push({
        name: text(run, "name"),
        startedAt: text(run, "started_at"),
        value: number(figure, "value"),
      });
    }
  const changesOf = changeFinder(database);
  return [...trends.values()].map(({ run, figure, points }) => ({
    target: text(run, "target"),
    scenario: text(run, "scenario"),
    shape: text(run, "shape"),
    rate: number(run, "rate"),
    fingerprint: text(run, "fingerprint"),
    endpoint: text(figure, "endpoint"),
    metric: text(figure, "metric"),
    points,
    changes: changesOf(points.map(({ value }) => value)),
  }));
};
