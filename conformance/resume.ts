import type { RuleResult, RunRecord } from "./contract/record.ts";
import { ConfigurationError } from "./problem.ts";
import type { Rule } from "./rule.ts";

/** What is left of a run that was interrupted or killed. */
export interface Resumed {
  /** Rules that had not settled yet. */
  readonly rules: readonly Rule[];
  /** What had settled, taken over as it was. */
  readonly earlier: readonly RuleResult[];
}

const isInterrupted = ({ verdict }: RuleResult): boolean =>
  verdict.kind === "inconclusive" && verdict.reason === "interrupted";

/**
 * What is left to do of a run. Credentials that it had issued in order to wait are not in its record
 * (they are secrets), so that a rule that was waiting begins anew; a ledger keeps what takes days.
 * Throws ConfigurationError where the run came to its end.
 */
export const resumed = (record: RunRecord, run: string, rules: readonly Rule[]): Resumed => {
  if (record.state === "sealed" && record.outcome !== "interrupted")
    throw new ConfigurationError([
      `--resume ${run}: it came to its end (${record.outcome ?? "no outcome"}); accepted is a run that was interrupted or killed`,
    ]);
  const earlier = record.rules.filter((result) => !isInterrupted(result));
  const settled = new Set<string>(earlier.map(({ id }) => id));
  const asked = new Set<string>(record.selected);
  return {
    rules: rules.filter(({ requirement }) => asked.has(requirement) && !settled.has(requirement)),
    earlier,
  };
};
