import { Command } from "@commander-js/extra-typings";
import { jsonOption } from "../shared/flags.ts";

export const rules = new Command("rules")
  .arguments("[id]")
  .description(
    "print the catalogue, or one requirement, how it is judged, and which seeded defects its rule must find",
  )
  .option("--openapi", "print the service's contract as an OpenAPI 3.1 document instead")
  .addOption(jsonOption);
