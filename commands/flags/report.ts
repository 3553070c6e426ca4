import { Command } from "@commander-js/extra-typings";
import { choiceFlag } from "../shared/flag-values.ts";
import { jsonOption, reportOption } from "../shared/flags.ts";
import { reportFormats, schemaNames } from "../../reports/formats.ts";

export const report = new Command("report")
  .arguments("[runs...]")
  .description("write reports of run directories, or print the JSON Schema of their files")
  .addOption(reportOption("", reportFormats))
  .option("--out <directory>", "folder of the reports (default: beside the first run)")
  .option(
    "--schema <name>",
    `print the JSON Schema of a file in run directories, or of its lines: ${schemaNames.join(", ")}`,
    choiceFlag("--schema", schemaNames),
  )
  .addOption(jsonOption);
