import { conform, type ConformOptions } from "./conform.ts";
import { isRequirementId } from "../contract/catalogue.ts";
import type { RuleResult, RunRecord } from "../contract/record.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { Interrupted } from "../checks/context.ts";
import type { Rule } from "../checks/rule.ts";
import { rules } from "../rules/index.ts";
import { watchesPushes } from "./needs.ts";
import { isBreach } from "../contract/verdict.ts";

/** A breach of an earlier run, and what judges it again. */
export interface Replayable {
  readonly earlier: RuleResult;
  readonly rule: Rule;
  /** The other rules of that run whose requests may have led to the breach. */
  readonly others: readonly Rule[];
  /** The longest single wait that the run was allowed, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Finds a rule's result in a record. Throws ConfigurationError if the run has none with that id. */
export const replayable = (record: RunRecord, id: string): Replayable => {
  const earlier = record.rules.find((result) => result.id === id);
  const rule = rules.find(({ requirement }) => requirement === id);
  if (earlier !== undefined && rule !== undefined && isBreach(earlier.verdict)) {
    const judged = new Set<string>(record.rules.map((result) => result.id));
    const others = rules.filter((one) => one !== rule && judged.has(one.requirement) && isQuick(one));
    return { earlier, rule, others, maxWaitMs: record.maxWaitMs };
  }
  const failed = record.rules.filter(({ verdict }) => isBreach(verdict)).map((result) => result.id);
  throw new ConfigurationError([
    `rule "${id}": ${isRequirementId(id) ? whyNot(earlier) : "no such rule"}; rules that failed in this run: ${failed.join(", ") || "none"}`,
  ]);
};

/** Whether a rule takes no longer than its requests do, and leaves nothing behind. */
const isQuick = (rule: Rule): boolean => rule.waits === undefined && !watchesPushes(rule);

const whyNot = (earlier: RuleResult | undefined): string =>
  earlier === undefined
    ? "this run has no result for it"
    : `it did not fail in this run (${earlier.verdict.kind}), so there is nothing to replay`;

/**
 * Judges one rule of an earlier run again, with that run's seed: first the very input that failed; if that holds now,
 * the whole rule; and if that holds too, the rule beside the others that the run judged, since a breach may take what
 * they send. It may wait as long as that run, or longer. Throws if it is interrupted.
 */
export const replay = async (
  { earlier, rule, others, maxWaitMs }: Replayable,
  options: Omit<ConformOptions, "rules" | "path">,
): Promise<{ readonly answer: "still fails" | "fixed" | "could not run"; readonly result: RuleResult }> => {
  const path = pathOf(earlier);
  const tries: readonly Pick<ConformOptions, "rules" | "path">[] = [
    ...(path === undefined ? [] : [{ rules: [rule], path }]),
    { rules: [rule] },
    ...(others.length === 0 ? [] : [{ rules: [rule, ...others] }]),
  ];
  let last: RuleResult | undefined;
  for (const one of tries) {
    const { results, outcome } = await conform({
      ...options,
      ...one,
      maxWaitMs: Math.max(options.maxWaitMs, maxWaitMs),
    });
    // The rule may have passed before the interruption, but not beside all others.
    if (outcome === "interrupted") throw new Interrupted();
    last = results.find(({ id }) => id === rule.requirement);
    if (last === undefined) throw new Error("a replay has a result of its rule");
    if (isBreach(last.verdict)) return { answer: "still fails", result: last };
    if (one.path === undefined && last.verdict.kind !== "passed") break;
  }
  if (last === undefined) throw new Error("a replay has at least one try");
  return { answer: last.verdict.kind === "passed" ? "fixed" : "could not run", result: last };
};

const pathOf = ({ verdict }: RuleResult): ConformOptions["path"] => {
  if (!isBreach(verdict)) return undefined;
  const { reproduction, part } = verdict.breach;
  return reproduction.path === undefined ? undefined : { part, path: reproduction.path };
};
