import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Requirement } from "../../conformance/contract/requirement.ts";

export type RequirementDocument = Requirement & {
  readonly id: RequirementId;
  readonly defects: readonly string[];
};

export const rulesDocument = (
  defectsOf: (id: RequirementId) => readonly string[],
  ids: readonly RequirementId[] = requirementIds,
): readonly RequirementDocument[] => ids.map((id) => ({ id, ...catalogue[id], defects: defectsOf(id) }));
