import { access } from "./catalogue/access.ts";
import { authorize } from "./catalogue/authorize.ts";
import { code } from "./catalogue/code.ts";
import { exchange } from "./catalogue/exchange.ts";
import { notifications } from "./catalogue/notifications.ts";
import { push } from "./catalogue/push.ts";
import { refresh } from "./catalogue/refresh.ts";
import { untestable, whole } from "./catalogue/whole.ts";
import type { Group, Level, Requirement, WrittenRequirement } from "./requirement.ts";

const inGroup = <G extends Group, R extends Readonly<Record<string, WrittenRequirement>>>(
  group: G,
  requirements: R,
) =>
  Object.fromEntries<unknown>(Object.entries(requirements).map(([id, one]) => [id, { group, ...one }])) as {
    readonly [Id in keyof R]: R[Id] & { readonly group: G };
  };

/** Every requirement by its id. Ids are canonical: they never change meaning and are never renumbered. */
export const catalogue = {
  ...inGroup("authorize", authorize),
  ...inGroup("code", code),
  ...inGroup("exchange", exchange),
  ...inGroup("refresh", refresh),
  ...inGroup("access", access),
  ...inGroup("notifications", notifications),
  ...inGroup("push", push),
  ...inGroup("whole", whole),
  ...inGroup("untestable", untestable),
} satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof catalogue;

export type RequirementIdOf<L extends Level> = {
  [Id in RequirementId]: (typeof catalogue)[Id]["level"] extends L ? Id : never;
}[RequirementId];

/** The ids that need a rule. */
export type TestableId = Exclude<RequirementId, RequirementIdOf<"untestable">>;

export const requirementIds = Object.keys(catalogue) as readonly RequirementId[];

export const isRequirementId = (id: string): id is RequirementId => Object.hasOwn(catalogue, id);

export const requirement = (id: RequirementId): Requirement => catalogue[id];
