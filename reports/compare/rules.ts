import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { isBreach } from "../../conformance/contract/verdict.ts";
import { whyUnjudged } from "../validity.ts";
import {
  changeTitles,
  type ComparedRule,
  type Drift,
  type RuleChange,
  type RulesComparison,
} from "./shape.ts";

/** As a word in a table. */
export const changeWord = (change: RuleChange): string =>
  (changeTitles.find(([one]) => one === change)?.[1] ?? change).toLowerCase();

/** Whether it cannot be told if the rule became worse. */
export const isUntold = (change: RuleChange): boolean =>
  change === "newly unable" || change === "failing unjudged";

const isFailing = ({ verdict }: RuleResult): boolean => isBreach(verdict);

/**
 * Two gate runs rule by rule, in the order of the later one. Advisory rules count as failing but are a regression only
 * if the run is strict.
 */
export const compareRules = (base: RunRecord, head: RunRecord): RulesComparison => {
  const before = new Map(base.rules.map((result) => [result.id, result]));
  const now = new Set(head.rules.map(({ id }) => id));
  const compared = [
    ...head.rules.map((result) => comparedRule(before.get(result.id), result, head.strict)),
    ...base.rules
      .filter(({ id }) => !now.has(id))
      .map((result) => comparedRule(result, undefined, head.strict)),
  ];
  const changes = compared.filter((one) => one !== undefined);
  return {
    changes,
    drift: head.rules.flatMap((result) => driftOf(before.get(result.id), result, head)),
    unchanged: compared.length - changes.length,
    regressed: changes.some(({ regresses }) => regresses),
  };
};

const comparedRule = (
  base: RuleResult | undefined,
  head: RuleResult | undefined,
  isStrict: boolean,
): ComparedRule | undefined => {
  const one = head ?? base;
  const change = changeOf(base, head);
  if (one === undefined || change === undefined) return undefined;
  const kind = head?.verdict.kind;
  return {
    id: one.id,
    level: one.level,
    change,
    regresses: change === "newly failing" && (kind === "failed" || (kind === "warned" && isStrict)),
    ...(base === undefined ? {} : { base: base.verdict.kind }),
    ...(head === undefined ? {} : { head: head.verdict.kind, ...saidOf(head) }),
  };
};

const changeOf = (base: RuleResult | undefined, head: RuleResult | undefined): RuleChange | undefined => {
  if (head === undefined) return base === undefined ? undefined : "only in base";
  const before = base === undefined ? "no result" : whyUnjudged(base);
  const now = whyUnjudged(head);
  if (isFailing(head)) {
    if (base !== undefined && isFailing(base)) return "still failing";
    return before === undefined ? "newly failing" : "failing unjudged";
  }
  if (base === undefined) return "only in head";
  if (base.verdict.kind === head.verdict.kind && before === now) return undefined;
  if (now !== undefined) return before === undefined ? "newly unable" : "other verdict";
  if (isFailing(base)) return "fixed";
  return before === undefined ? "other verdict" : "able again";
};

const saidOf = ({ verdict }: RuleResult): Pick<ComparedRule, "expected" | "actual" | "reason"> => {
  if ("breach" in verdict) return { expected: verdict.breach.expected, actual: verdict.breach.actual };
  if ("reason" in verdict) return { reason: verdict.reason };
  return verdict.kind === "harness-error" ? { reason: verdict.message } : {};
};

const driftOf = (base: RuleResult | undefined, head: RuleResult, run: RunRecord): readonly Drift[] => {
  if (base?.verdict.kind !== "observed" || head.verdict.kind !== "observed") return [];
  if (base.verdict.fingerprint === head.verdict.fingerprint) return [];
  const pinned = Object.hasOwn(run.pinned, head.id);
  return [{ id: head.id, base: base.verdict.fingerprint, head: head.verdict.fingerprint, pinned }];
};
