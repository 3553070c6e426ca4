import { Command } from "@commander-js/extra-typings";
import { listFlag } from "../shared/flags.ts";
import {
  behaviourOption,
  effortOption,
  jsonOption,
  maxWaitOption,
  onlyOption,
  outOption,
  profileOption,
  reportOption,
  reportOutOption,
  seedOption,
} from "../shared/flags.ts";
import { groups, levels } from "../../conformance/contract/requirement.ts";
import { reportFormats } from "../../reports/formats.ts";

export const conform = new Command("conform")
  .description("judge a service by every rule; without a profile, the embedded fake")
  .addOption(profileOption)
  .addOption(behaviourOption)
  .addOption(onlyOption)
  .option(
    "--section <names>",
    `judge only these groups (${groups.join(", ")}) or sections of the document (4.1, ...)`,
    listFlag,
  )
  .option(
    "--level <levels>",
    `judge only these levels: ${levels.join(", ")} (untestable requirements have no rule)`,
    listFlag,
  )
  .option("--strict", "fail the gate on breaches of advisory rules too")
  .addOption(effortOption)
  .addOption(seedOption)
  .addOption(maxWaitOption)
  .addOption(outOption)
  .option(
    "--ledger <file>",
    "store credentials that expire too late for this run, and judge those of earlier runs that are due",
  )
  .option(
    "--resume <run>",
    "continue a run that was interrupted or killed: keep its results, and judge the credentials that it was waiting for when they are due",
  )
  .option("--ledger-key-file <file>", "file with the ledger's key, instead of TOUCHSTONE_LEDGER_KEY")
  .option("--verbose", "print every rule, every observation and all measurements")
  .addOption(reportOption("write reports of the run: ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);
