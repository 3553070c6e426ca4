import { access } from "./catalogue/access.ts";
import { authorize } from "./catalogue/authorize.ts";
import { code } from "./catalogue/code.ts";
import { exchange } from "./catalogue/exchange.ts";
import { notifications } from "./catalogue/notifications.ts";
import { push } from "./catalogue/push.ts";
import { refresh } from "./catalogue/refresh.ts";
import { whole } from "./catalogue/whole.ts";
import type { Level, Requirement } from "./requirement.ts";

/** Every requirement by its id. Ids are canonical: they never change meaning and are never renumbered. */
export const catalogue = {
  ...authorize,
  ...code,
  ...exchange,
  ...refresh,
  ...access,
  ...notifications,
  ...push,
  ...whole,
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof catalogue;

export type RequirementIdOf<L extends Level> = {
  [Id in RequirementId]: (typeof catalogue)[Id]["level"] extends L ? Id : never;
}[RequirementId];

/** The ids that a rule has to exist for. */
export type TestableId = Exclude<RequirementId, RequirementIdOf<"untestable">>;

export const requirementIds = Object.keys(catalogue) as readonly RequirementId[];

export const isRequirementId = (id: string): id is RequirementId => Object.hasOwn(catalogue, id);

export const requirement = (id: RequirementId): Requirement => catalogue[id];
