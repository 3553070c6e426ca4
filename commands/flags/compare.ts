import { Command } from "@commander-js/extra-typings";
import { comparedFormats } from "../../reports/formats.ts";
import { reportOption, jsonOption, seedOptionOf } from "../shared/flags.ts";

export const compare = new Command("compare")
  .arguments("<runs...>")
  .description("compare the rules, observations and latency of the last run with those of earlier ones")
  .option(
    "--baseline <folder>",
    "compare with the earlier runs in this folder that have the same fingerprint",
  )
  .option(
    "--force",
    "compare runs even if their fingerprints differ, and say so; exit code 3 unless the last is worse",
  )
  .addOption(reportOption("write the comparison as files: ", comparedFormats))
  .option("--out <directory>", "folder of the page (default: beside the last run)")
  .addOption(seedOptionOf("seed of the resampling that gives the intervals (default: 1)"))
  .addOption(jsonOption);
