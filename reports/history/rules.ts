import type { DatabaseSync } from "node:sqlite";
import { chosen, kindOf, text, type HistoryFilter } from "./runs.ts";

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
