import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import {
  catalogue,
  isRequirementId,
  requirementIds,
  type RequirementId,
} from "../conformance/contract/catalogue.ts";
import { nearest } from "../conformance/contract/text.ts";
import { defects } from "../fake-server/behaviours.ts";
import { catalogueDoc, ruleDoc } from "../reports/document/commands.ts";
import type { rules as definition } from "./flags/gate.ts";
import { show } from "./shared/show.ts";

import contract from "../conformance/contract/openapi.json" with { type: "json" };

export const run: Action<typeof definition> = async ({ output }, id, flags) => {
  if (flags.openapi === true) {
    if (id !== undefined)
      throw new ConfigurationError(
        `rules ${id} --openapi: it prints the contract of the whole service; omit the id`,
      );
    output.printJson(contract);
    return;
  }
  const killing = (rule: string) =>
    Object.entries(defects).flatMap(([name, { summary, breaks }]) =>
      breaks.some((broken) => broken === rule) ? [{ name, summary }] : [],
    );
  const documentOf = (rule: RequirementId) => ({
    id: rule,
    ...catalogue[rule],
    defects: killing(rule).map(({ name }) => name),
  });
  if (id === undefined) {
    show(output, catalogueDoc(), requirementIds.map(documentOf));
    return;
  }
  if (!isRequirementId(id))
    throw new ConfigurationError([
      `rule "${id}": unknown id; similar ids are ${nearest(id, requirementIds).join(", ")}`,
    ]);
  show(output, ruleDoc(id, killing(id)), documentOf(id));
};
