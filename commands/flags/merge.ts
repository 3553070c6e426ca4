import { Command } from "@commander-js/extra-typings";
import { jsonOption, outOption, reportOption, reportOutOption } from "../shared/flags.ts";
import { reportFormats } from "../../reports/formats.ts";

export const merge = new Command("merge")
  .arguments("<records...>")
  .description("make one run of the records that all segments of a load left (load --segment)")
  .addOption(outOption)
  .addOption(reportOption("write reports of the merged run: ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);
