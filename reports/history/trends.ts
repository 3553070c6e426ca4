import type { DatabaseSync } from "node:sqlite";
import { changePoints, usualChangePoints, type ChangePoint } from "../statistics/change-points.ts";
import { seededRandom } from "../statistics/random.ts";
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
