import { behaviourFrom, type Behaviour, type FakeBehaviour } from "../../fake-server/index.ts";
import type { Rule } from "../checks/rule.ts";
import type { RequirementId } from "../contract/catalogue.ts";
import { rules } from "../rules/index.ts";

export const ruleFor = (id: RequirementId): Rule => {
  const rule = rules.find(({ requirement }) => requirement === id);
  if (rule === undefined) throw new Error(`no rule judges ${id}`);
  return rule;
};

/** A service that differs from the sound one in these decisions. */
export const behaving = (replaces: (sound: Behaviour) => Partial<Behaviour>): FakeBehaviour =>
  behaviourFrom("of a test", { summary: "of a test", replaces });
