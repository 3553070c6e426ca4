import type { HistoryRun } from "./runs.ts";

export interface RuleHistory {
  readonly id: string;
  readonly target: string;
  readonly kind: "conform" | "load";
  readonly points: readonly { readonly name: string; readonly startedAt: string; readonly verdict: string }[];
}

export interface FlakyRule {
  readonly id: string;
  readonly target: string;
  readonly kind: "conform" | "load";
  /** Runs in which it passed or failed, and in how many it failed. */
  readonly judged: number;
  readonly failed: number;
  readonly flips: number;
  /** Flips as a share of how many there could be. */
  readonly rate: number;
}

const failing: ReadonlySet<string> = new Set(["failed", "warned"]);

/**
 * Verdicts over time in complete runs: of one rule where an id is given, otherwise of those that failed or
 * warned in at least one of them. In the order of their ids.
 */
export const ruleHistories = (
  runs: readonly HistoryRun[],
  rule: string | undefined,
): readonly RuleHistory[] => {
  const histories = new Map<string, RuleHistory & { readonly points: RuleHistory["points"][number][] }>();
  for (const { listed, verdicts } of runs)
    for (const [id, verdict] of verdicts) {
      if (rule !== undefined && id !== rule) continue;
      const { name, startedAt, target, kind } = listed;
      const key = [id, target, kind].join("\n");
      const known = histories.get(key) ?? { id, target, kind, points: [] };
      histories.set(key, known);
      known.points.push({ name, startedAt, verdict });
    }
  return [...histories]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, history]) => history)
    .filter(({ points }) => rule !== undefined || points.some(({ verdict }) => failing.has(verdict)));
};

/** One change may be a defect that came, or one that went; with two or more a rule is flaky. */
const LEAST_FLIPS = 2;

export const flakyRules = (histories: readonly RuleHistory[]): readonly FlakyRule[] =>
  histories
    .map(({ id, target, kind, points }): FlakyRule => {
      const fails = points
        .filter(({ verdict }) => verdict === "passed" || failing.has(verdict))
        .map(({ verdict }) => failing.has(verdict));
      const flips = fails.filter((value, at) => at > 0 && value !== fails[at - 1]).length;
      const failed = fails.filter(Boolean).length;
      const rate = fails.length < 2 ? 0 : flips / (fails.length - 1);
      return { id, target, kind, judged: fails.length, failed, flips, rate };
    })
    .filter(({ flips }) => flips >= LEAST_FLIPS)
    .toSorted((a, b) => b.rate - a.rate || (a.id < b.id ? -1 : 1));
