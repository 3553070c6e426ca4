import { behaviourFrom, defects, type Behaviour, type FakeBehaviour } from "../../fake-server/index.ts";
import type { Rule } from "../checks/rule.ts";
import type { RequirementId } from "../contract/catalogue.ts";
import type { Verdict } from "../contract/verdict.ts";
import { rules } from "../rules/index.ts";
import { judge, type BenchOptions } from "./judge.ts";

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
