import { Command } from "@commander-js/extra-typings";
import { choiceFlag } from "../shared/flags.ts";
import { jsonOption, reportOption } from "../shared/flags.ts";
import { reportFormats, schemaNames } from "../../reports/formats.ts";

export const report = new Command("report")
  .arguments("[runs...]")
  .description(
    "write reports of run directories, or verify that the runs have not changed since they were sealed",
  )
  .addOption(reportOption("", reportFormats))
  .option("--out <directory>", "folder of the reports (default: beside the first run)")
  .option(
    "--schema <name>",
    `print the JSON Schema of a file in run directories, or of its lines: ${schemaNames.join(", ")}`,
    choiceFlag("--schema", schemaNames),
  )
  .option("--verify", "compare every file of the runs with the manifest that sealed them; write nothing")
  .addOption(jsonOption);
