import { flakyRules, ruleHistories, type FlakyRule, type RuleHistory } from "./rules.ts";
import { chosen, readHistory, type HistoryFilter, type ListedRun, type Problem } from "./runs.ts";
import { trendsOf, type Trend } from "./trends.ts";

export type { FlakyRule, HistoryFilter, ListedRun, RuleHistory, Trend };

export interface HistoryQuestion extends HistoryFilter {
  readonly rule?: string;
  /** Trends of this endpoint, and of this metric (p50, p95, p99, requests per second), alone. */
  readonly endpoint?: string;
  readonly metric?: string;
}

/** What a folder of runs tells; every list from the earliest to the latest. */
export interface History {
  readonly folder: string;
  readonly runs: readonly ListedRun[];
  readonly trends: readonly Trend[];
  readonly rules: readonly RuleHistory[];
  readonly flaky: readonly FlakyRule[];
  /** Runs that are listed and take no part in trends, rules and flaky rules, with the reasons. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
  readonly problems: readonly Problem[];
}

/** The history of the run directories right below a folder. Throws ConfigurationError where the folder cannot be read. */
export const historyOf = async (folder: string, question: HistoryQuestion = {}): Promise<History> => {
  const { runs: all, problems } = await readHistory(folder);
  const runs = chosen(all, question);
  const complete = all.filter(({ incomplete }) => incomplete === undefined);
  const rules = ruleHistories(chosen(complete, question), question.rule);
  return {
    folder,
    runs: runs.map(({ listed }) => listed),
    trends: trendsOf(
      chosen(
        complete.filter(({ listed }) => listed.kind === "load"),
        question,
      ),
      question,
    ),
    rules,
    flaky: flakyRules(rules),
    leftOut: runs.flatMap(({ listed: { name }, incomplete: reason }) =>
      reason === undefined ? [] : [{ name, reason }],
    ),
    problems,
  };
};
