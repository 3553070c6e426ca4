import { readFileSync } from "node:fs";
import path from "node:path";
import { recordFiles } from "../contract/files.ts";
import type { RuleResult, RunRecord } from "../contract/record.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Rule } from "../checks/rule.ts";

const isInterrupted = ({ verdict }: RuleResult): boolean =>
  verdict.kind === "inconclusive" && verdict.reason === "interrupted";

/**
 * What is left to do of a run: unsettled rules start over, and those of their cases that were waiting in real time
 * continue from the run's checkpoint. Throws ConfigurationError if the run is complete.
 */
export const resumed = (record: RunRecord, run: string, rules: readonly Rule[]) => {
  if (record.state === "sealed" && record.outcome !== "interrupted")
    throw new ConfigurationError([
      `--resume ${run}: it is complete (${record.outcome ?? "no outcome"}); accepted is a run that was interrupted or killed`,
    ]);
  const earlier = record.rules.filter((result) => !isInterrupted(result));
  const settled = new Set<string>(earlier.map(({ id }) => id));
  const asked = new Set<string>(record.selected);
  return {
    rules: rules.filter(({ requirement }) => asked.has(requirement) && !settled.has(requirement)),
    earlier,
  };
};

/** The longest single wait that a run was allowed, in milliseconds; 0 if its record does not say. */
export const maxWaitOf = (run: string): number => {
  try {
    const { maxWaitMs } = JSON.parse(readFileSync(path.join(run, recordFiles.run), "utf8")) as {
      readonly maxWaitMs?: unknown;
    };
    return typeof maxWaitMs === "number" && maxWaitMs >= 0 ? maxWaitMs : 0;
  } catch {
    return 0;
  }
};
