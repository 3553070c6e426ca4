import { expect, test } from "vitest";
import { defects } from "../../fake-server/index.ts";
import type { Rule } from "../checks/rule.ts";
import { catalogue, type RequirementId } from "../contract/catalogue.ts";
import type { RuleResult } from "../contract/record.ts";
import type { Verdict } from "../contract/verdict.ts";
import { rules } from "../rules/index.ts";
import { judge, judgeAll } from "./bench.ts";

/** Judges a seeded defect by the rule of the requirement that it breaks first. */
export const judgeDefect = async (name: string): Promise<{ verdict: Verdict; broken: RequirementId }> => {
  const broken = defects[name]?.breaks[0];
  const rule = rules.find(({ requirement }) => requirement === broken);
  if (broken === undefined || rule === undefined) throw new Error(`no rule sees the defect ${name}`);
  return { verdict: await judge(rule, { behaviour: name }), broken };
};

const isList = (value: object): value is readonly string[] => Array.isArray(value);

/** Each seeded defect is seen by its own rule, which says what it saw (where a pattern is given) and sees it again. */
export const testDefects = (seen: readonly string[] | Readonly<Record<string, RegExp>>): void => {
  const rows: readonly (readonly [string, RegExp])[] = isList(seen)
    ? seen.map((name) => [name, /./])
    : Object.entries(seen);
  test.each(rows)("%s is seen by its rule: %s", async (name, actual) => {
    const { verdict, broken } = await judgeDefect(name);
    if (verdict.kind !== "failed" && verdict.kind !== "warned") throw new Error(JSON.stringify(verdict));
    expect(verdict.kind).toBe(catalogue[broken].level === "advisory" ? "warned" : "failed");
    expect(verdict.breach.actual).toMatch(actual);
    expect(verdict.breach.reproduction.replayed.failures).toBeGreaterThan(0);
  });
};

/** What did not pass, in short; advisory warnings count only where they are not expected. */
export const troublesOf = (results: readonly RuleResult[], alsoFine: readonly Verdict["kind"][] = []) =>
  results.flatMap(({ id, verdict }) =>
    ["passed", "observed", "not-applicable", ...alsoFine].includes(verdict.kind)
      ? []
      : [[id, verdict.kind, "breach" in verdict ? verdict.breach.actual : ""]],
  );

/** Conforming services break none of these rules; those named with "+" between them are one service. */
export const testVariants = (
  judged: readonly Rule[],
  names: readonly string[],
  alsoFine: readonly Verdict["kind"][] = [],
): void =>
  test.each(names)("%s breaks nothing", async (behaviour) => {
    expect(troublesOf(await judgeAll(judged, { behaviour }), alsoFine)).toEqual([]);
  });
