import { conform, type ConformOptions } from "./conform.ts";
import { isRequirementId } from "../contract/catalogue.ts";
import type { RuleResult, RunRecord } from "../contract/record.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { rules } from "../rules/index.ts";
import { isBreach } from "../contract/verdict.ts";

/** Finds a rule's result in a record. Throws ConfigurationError if the run has none with that id. */
export const replayable = (record: RunRecord, id: string) => {
  const earlier = record.rules.find((result) => result.id === id);
  const rule = rules.find(({ requirement }) => requirement === id);
  if (earlier !== undefined && rule !== undefined && isBreach(earlier.verdict)) return { earlier, rule };
  const failed = record.rules.filter(({ verdict }) => isBreach(verdict)).map((result) => result.id);
  throw new ConfigurationError([
    `rule "${id}": ${isRequirementId(id) ? whyNot(earlier) : "no such rule"}; rules that failed in this run: ${failed.join(", ") || "none"}`,
  ]);
};

const whyNot = (earlier: RuleResult | undefined): string =>
  earlier === undefined
    ? "this run has no result for it"
    : `it did not fail in this run (${earlier.verdict.kind}), so there is nothing to replay`;

/**
 * Judges one rule of an earlier run again, with that run's seed: first the very input that failed and, if that holds
 * now, the whole rule.
 */
export const replay = async (
  { earlier, rule }: ReturnType<typeof replayable>,
  options: Omit<ConformOptions, "rules" | "path">,
): Promise<{ readonly answer: "still fails" | "fixed" | "could not run"; readonly result: RuleResult }> => {
  const path = pathOf(earlier);
  if (path !== undefined) {
    const { results } = await conform({ ...options, rules: [rule], path });
    const again = results[0];
    if (again !== undefined && isBreach(again.verdict)) return { answer: "still fails", result: again };
  }
  const { results } = await conform({ ...options, rules: [rule] });
  const [result] = results;
  if (result === undefined) throw new Error("a replay has one result");
  if (isBreach(result.verdict)) return { answer: "still fails", result };
  return { answer: result.verdict.kind === "passed" ? "fixed" : "could not run", result };
};

const pathOf = ({ verdict }: RuleResult): ConformOptions["path"] => {
  if (!isBreach(verdict)) return undefined;
  const { reproduction, part } = verdict.breach;
  return reproduction.path === undefined ? undefined : { part, path: reproduction.path };
};
