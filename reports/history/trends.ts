import {
  changePoints,
  fewestValues,
  usualChangePoints,
  type ChangePoint,
} from "../statistics/change-points.ts";
import { leastRatio } from "../statistics/floors.ts";
import { seededRandom } from "../../conformance/contract/random.ts";
import type { HistoryRun } from "./runs.ts";

export interface Trend {
  readonly target: string;
  readonly scenario: string;
  readonly shape: string;
  readonly rate: number;
  /** Canonical JSON; runs with different fingerprints form different trends. */
  readonly fingerprint: string;
  readonly endpoint: string;
  readonly metric: string;
  readonly points: readonly { readonly name: string; readonly startedAt: string; readonly value: number }[];
  readonly changes: readonly ChangePoint[];
}

/**
 * Trends of complete load runs. Change points that matter are found on the logarithm by E-divisive with a permutation
 * test. Its seed is fixed, so the same runs always give the same change points.
 */
export const trendsOf = (
  runs: readonly HistoryRun[],
  asked: { readonly endpoint?: string; readonly metric?: string },
): readonly Trend[] => {
  const isAsked = ({ endpoint, metric }: HistoryRun["figures"][number]): boolean =>
    (asked.endpoint ?? endpoint) === endpoint && (asked.metric ?? metric) === metric;
  const trends = new Map<string, Omit<Trend, "changes"> & { readonly points: Trend["points"][number][] }>();
  for (const { listed, fingerprint, shape, figures } of runs)
    for (const { endpoint, metric, value } of figures.filter(isAsked)) {
      const { name, startedAt, target, scenario = "", rate = 0 } = listed;
      const key = `${fingerprint}\n${endpoint}\n${metric}`;
      const about = { target, scenario, shape, rate, fingerprint, endpoint, metric };
      const trend = trends.get(key) ?? { ...about, points: [] };
      trends.set(key, trend);
      trend.points.push({ name, startedAt, value });
    }
  return [...trends.values()].map((trend) => ({
    ...trend,
    changes: changesOf(trend.points.map(({ value }) => value)).filter(({ before, after }) =>
      isLarge(trend.metric, Math.min(before, after), Math.max(before, after)),
    ),
  }));
};

/** A change is found from so many runs on, and only before the latest few, which are too few for a level of their own. */
export const changesNeed = {
  runs: fewestValues(usualChangePoints),
  latestUntold: usualChangePoints.leastStretch - 1,
} as const;

/** Even a certain change of less is no reason to look, and among many trends some are found by chance. */
const isLarge = (metric: string, low: number, high: number): boolean => high >= low * leastRatio(metric, low);

/** Number of latest values searched for change points: a change in the distant past can no longer be fixed. */
const MOST_VALUES = 200;

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
