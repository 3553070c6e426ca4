import { openIndex } from "./database.ts";
import { flakyRules, ruleHistories, type FlakyRule, type RuleHistory } from "./rules.ts";
import { listProblems, listRuns, type HistoryFilter, type ListedRun } from "./runs.ts";
import { synchronise } from "./sync.ts";
import { trendsOf, type Trend } from "./trends.ts";

export type { FlakyRule, HistoryFilter, ListedRun, RuleHistory, Trend };

export interface HistoryQuestion extends HistoryFilter {
  /** Verdicts of this rule alone. */
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
  /** Run directories that cannot be read. */
  readonly problems: readonly { readonly name: string; readonly problem: string }[];
}

/**
 * The history of the run directories right below a folder. They are read once and kept in an index beside
 * them, which is brought up to date first and made anew where it is lost or damaged. Throws UnreadableRun
 * where the folder cannot be read.
 */
export const historyOf = async (folder: string, question: HistoryQuestion = {}): Promise<History> => {
  const database = openIndex(folder);
  try {
    await synchronise(database, folder);
    const rules = ruleHistories(database, question);
    return {
      folder,
      runs: listRuns(database, question),
      trends: trendsOf(database, question),
      rules,
      flaky: flakyRules(rules),
      problems: listProblems(database),
    };
  } finally {
    database.close();
  }
};
