import { Command } from "@commander-js/extra-typings";
import { jsonOption } from "../shared/flags.ts";

export const rules = new Command("rules")
  .arguments("[id]")
  .description("print the catalogue, or one requirement with how it is judged and which defects it kills")
  .option("--openapi", "print the service's contract as an OpenAPI 3.1 document instead")
  .addOption(jsonOption);
