import { Command } from "@commander-js/extra-typings";
import { jsonOption, outOption, reportOption, reportOutOption } from "../shared/flags.ts";
import { reportFormats } from "../../reports/formats.ts";

export const merge = new Command("merge")
  .arguments("<records...>")
  .description("combine the records of all segments of a load (load --segment) into one run")
  .addOption(outOption)
  .addOption(reportOption("write reports of the merged run: ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);
