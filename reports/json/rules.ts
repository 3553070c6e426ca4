import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";

export const rulesDocument = (
  defectsOf: (id: RequirementId) => readonly string[],
  ids: readonly RequirementId[] = requirementIds,
) => ids.map((id) => ({ id, ...catalogue[id], defects: defectsOf(id) }));
