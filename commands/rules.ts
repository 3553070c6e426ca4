import { Command } from "@commander-js/extra-typings";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import { jsonOption } from "./shared/flags.ts";

export const rulesCommand = ({ output }: CommandContext) =>
  new Command("rules")
    .arguments("[id]")
    .description("prints the catalogue, or one requirement with how it is judged and which defects it kills")
    .addOption(jsonOption)
    .action(async (id, flags) => {
      const { isRequirementId, requirementIds } = await import("../conformance/contract/catalogue.ts");
      const { nearest } = await import("../conformance/contract/nearest.ts");
      // From its own file: the fake itself is not needed, and takes as long to load as everything else together.
      const { defects } = await import("../fake-server/defects/index.ts");
      const { rulesDocument } = await import("../reports/json/rules.ts");
      const { renderCatalogue, renderRule } = await import("../reports/terminal/rules.ts");
      const killing = (rule: string) =>
        Object.entries(defects).flatMap(([name, { summary, breaks }]) =>
          breaks.some((broken) => broken === rule) ? [{ name, summary }] : [],
        );
      const namesOf = (rule: string) => killing(rule).map(({ name }) => name);
      if (id === undefined) {
        if (flags.json) output.printJson(rulesDocument(namesOf));
        else output.print(renderCatalogue(await output.page()));
        return;
      }
      if (!isRequirementId(id))
        throw new ConfigurationError([
          `rule "${id}": no such id; near it are ${nearest(id, requirementIds).join(", ")}`,
        ]);
      if (flags.json) output.printJson(rulesDocument(namesOf, [id])[0]);
      else output.print(renderRule(id, killing(id), await output.page()));
    });
