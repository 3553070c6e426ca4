import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { isRequirementId, requirementIds } from "../conformance/contract/catalogue.ts";
import { nearest } from "../conformance/contract/nearest.ts";
import { defects } from "../fake-server/defects/index.ts";
import { tool } from "../conformance/record/tool.ts";
import { openApiDocument } from "../reports/openapi/document.ts";
import { rulesDocument } from "../reports/json/rules.ts";
import { catalogueDoc, ruleDoc } from "../reports/document/rules.ts";
import type { rules as definition } from "./flags/gate.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async ({ output }, id, flags) => {
  if (flags.openapi === true) {
    if (id !== undefined)
      throw new ConfigurationError(
        `rules ${id} --openapi: it prints the contract of the whole service; omit the id`,
      );
    output.printJson(openApiDocument(tool.version));
    return;
  }
  const killing = (rule: string) =>
    Object.entries(defects).flatMap(([name, { summary, breaks }]) =>
      breaks.some((broken) => broken === rule) ? [{ name, summary }] : [],
    );
  const namesOf = (rule: string) => killing(rule).map(({ name }) => name);
  if (id === undefined) {
    show(output, catalogueDoc(), rulesDocument(namesOf));
    return;
  }
  if (!isRequirementId(id))
    throw new ConfigurationError([
      `rule "${id}": unknown id; similar ids are ${nearest(id, requirementIds).join(", ")}`,
    ]);
  show(output, ruleDoc(id, killing(id)), rulesDocument(namesOf, [id])[0]);
};
