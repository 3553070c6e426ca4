import { expect, test } from "vitest";
import {
  behaviourFrom,
  bundlesOf,
  defects,
  joint,
  variants,
  type Behaviour,
  type FakeBehaviour,
} from "../../fake-server/index.ts";
import type { Rule } from "../checks/rule.ts";
import { catalogue, type RequirementId } from "../contract/catalogue.ts";
import type { RuleResult } from "../contract/record.ts";
import type { Verdict } from "../contract/verdict.ts";
import { rules } from "../rules/index.ts";
import { judge, judgeAll, type BenchOptions } from "./bench.ts";

export const ruleFor = (id: RequirementId): Rule => {
  const rule = rules.find(({ requirement }) => requirement === id);
  if (rule === undefined) throw new Error(`no rule judges ${id}`);
  return rule;
};

/** A service that differs from the sound one in these decisions. */
export const behaving = (replaces: (sound: Behaviour) => Partial<Behaviour>): FakeBehaviour =>
  behaviourFrom("of a test", { summary: "of a test", replaces });

/** Judges a seeded defect by the rule of the requirement that it breaks first. */
export const judgeDefect = async (
  name: string,
  options: Pick<BenchOptions, "stopAtBreach"> = {},
): Promise<{ verdict: Verdict; broken: RequirementId }> => {
  const broken = defects[name]?.breaks[0];
  if (broken === undefined) throw new Error(`there is no defect ${name}`);
  return { verdict: await judge(ruleFor(broken), { behaviour: name, ...options }), broken };
};

const isList = (value: object): value is readonly string[] => Array.isArray(value);

/**
 * Each seeded defect is seen by its own rule. If a pattern is given, the rule also describes what it saw, and its
 * replay fails again.
 */
export const testDefects = (seen: readonly string[] | Readonly<Record<string, RegExp>>): void => {
  const rows: readonly (readonly [string, RegExp?])[] = isList(seen)
    ? seen.map((name) => [name])
    : Object.entries(seen);
  test.for(rows)("the defect %s is detected by its rule", async ([name, actual]) => {
    const { verdict, broken } = await judgeDefect(name, { stopAtBreach: actual === undefined });
    if (verdict.kind !== "failed" && verdict.kind !== "warned") throw new Error(JSON.stringify(verdict));
    expect(verdict.kind).toBe(catalogue[broken].level === "advisory" ? "warned" : "failed");
    expect(verdict.breach.actual).toMatch(actual ?? /./);
    expect(actual === undefined || verdict.breach.reproduction.replayed.failures > 0).toBe(true);
  });
};

/** Summarizes what did not pass; advisory warnings count only if unexpected. */
export const troublesOf = (results: readonly RuleResult[], alsoFine: readonly Verdict["kind"][] = []) =>
  results.flatMap(({ id, verdict }) =>
    ["passed", "observed", "not-applicable", ...alsoFine].includes(verdict.kind)
      ? []
      : [[id, verdict.kind, "breach" in verdict ? verdict.breach.actual : ""]],
  );

/** Bundles variants into as few services as can show them all; other names get a service each. */
const servicesOf = (names: readonly string[]): readonly string[] => {
  const known = Object.entries(variants).filter(([name]) => names.includes(name));
  return [
    ...names.filter((name) => !Object.hasOwn(variants, name)),
    ...bundlesOf(Object.fromEntries(known)).map((bundle) => bundle.join(joint)),
  ];
};

/** Conforming services break none of these rules. */
export const testVariants = (
  judged: readonly Rule[],
  names: readonly string[],
  alsoFine: readonly Verdict["kind"][] = [],
): void =>
  test.each(servicesOf(names))("the variant %s breaks no rule", async (behaviour) => {
    expect(troublesOf(await judgeAll(judged, { behaviour }), alsoFine)).toEqual([]);
  });
