import {
  chosen,
  readHistory,
  type HistoryFilter,
  type ListedRun,
  type Problem,
  type HistoryRun,
} from "./runs.ts";
import { trendsOf, type Trend } from "./trends.ts";

export { changesNeed } from "./trends.ts";
export type { FlakyRule, HistoryFilter, ListedRun, RuleHistory, Trend };

export interface HistoryQuestion extends HistoryFilter {
  readonly rule?: string;
  /** Selects trends of this endpoint only, and of this metric only (p50, p95, p99, requests per second). */
  readonly endpoint?: string;
  readonly metric?: string;
}

/** The history of a folder of runs; every list from the earliest to the latest. */
export interface History {
  readonly folder: string;
  /** The rule that was asked for, if only one was. */
  readonly rule?: string;
  /** Number of readable runs in the folder, selected or not. */
  readonly inFolder: number;
  readonly runs: readonly ListedRun[];
  readonly trends: readonly Trend[];
  readonly rules: readonly RuleHistory[];
  readonly flaky: readonly FlakyRule[];
  /** Runs that are listed but excluded from trends, rules and flaky rules, with reasons. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  readonly problems: readonly Problem[];
}

/** The history of the run directories directly in a folder. Throws ConfigurationError if the folder cannot be read. */
export const historyOf = async (folder: string, question: HistoryQuestion = {}): Promise<History> => {
  const { runs: all, problems } = await readHistory(folder);
  const runs = chosen(all, question);
  const complete = runs.filter(({ incomplete }) => incomplete === undefined);
  const rules = ruleHistories(complete, question.rule);
  return {
    folder,
    ...(question.rule !== undefined && { rule: question.rule }),
    inFolder: all.length,
    runs: runs.map(({ listed }) => listed),
    trends: trendsOf(complete, question),
    rules,
    flaky: flakyRules(complete, question.rule),
    leftOut: runs.flatMap(({ listed: { name }, incomplete: reason }) =>
      reason === undefined ? [] : [{ name, reason }],
    ),
    problems,
  };
};

interface RuleHistory {
  readonly id: string;
  readonly target: string;
  readonly kind: "conform" | "load";
  readonly points: readonly { readonly name: string; readonly startedAt: string; readonly verdict: string }[];
}

interface FlakyRule extends Omit<RuleHistory, "points"> {
  /** Number of runs in which it passed or failed, and in which it failed. */
  readonly judged: number;
  readonly failed: number;
  readonly flips: number;
  /** Flips as a share of the possible flips. */
  readonly rate: number;
}

const keyOf = ({ id, target, kind }: Omit<RuleHistory, "points">): string => [id, target, kind].join("\n");

export const isFailing = ({ verdict }: { readonly verdict: string }): boolean =>
  verdict === "failed" || verdict === "warned";

/**
 * Verdicts over time in complete runs, ordered by id: of the given rule, or of all rules that failed or warned at least
 * once.
 */
const ruleHistories = (runs: readonly HistoryRun[], rule: string | undefined): readonly RuleHistory[] => {
  const histories = new Map<string, RuleHistory & { readonly points: RuleHistory["points"][number][] }>();
  for (const { listed, verdicts } of runs)
    for (const [id, verdict] of verdicts) {
      if (rule !== undefined && id !== rule) continue;
      const { name, startedAt, target, kind } = listed;
      const key = keyOf({ id, target, kind });
      const known = histories.get(key) ?? { id, target, kind, points: [] };
      histories.set(key, known);
      known.points.push({ name, startedAt, verdict });
    }
  return [...histories]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, history]) => history)
    .filter(({ points }) => rule !== undefined || points.some(isFailing));
};

/** A single flip may be a defect introduced or fixed; from two on a rule is flaky. */
const LEAST_FLIPS = 2;

/**
 * Rules that alternate between passing and failing, flakiest first. Like trends, only runs with one fingerprint are set
 * against each other: a breach that only thorough runs find does not come and go because quick runs lie between. A rule
 * that alternates in several such series is listed once, with the flakiest.
 */
const flakyRules = (runs: readonly HistoryRun[], rule: string | undefined): readonly FlakyRule[] => {
  const alike = Map.groupBy(runs, ({ fingerprint }) => fingerprint);
  const flaky = [...alike.values()]
    .flatMap((some) => ruleHistories(some, rule))
    .map(({ id, target, kind, points }): FlakyRule => {
      const fails = points.filter((point) => point.verdict === "passed" || isFailing(point)).map(isFailing);
      const flips = fails.filter((value, at) => at > 0 && value !== fails[at - 1]).length;
      const failed = fails.filter(Boolean).length;
      const rate = fails.length < 2 ? 0 : flips / (fails.length - 1);
      return { id, target, kind, judged: fails.length, failed, flips, rate };
    })
    .filter(({ flips }) => flips >= LEAST_FLIPS)
    .toSorted((a, b) => b.rate - a.rate || (a.id < b.id ? -1 : 1));
  return [...Map.groupBy(flaky, keyOf).values()].flatMap((some) => some.slice(0, 1));
};
