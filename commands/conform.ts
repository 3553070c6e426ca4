import { Command } from "@commander-js/extra-typings";
import { exitCodes } from "../conformance/contract/record.ts";
import { listFlag } from "../conformance/flags.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import {
  behaviourOption,
  effortOption,
  jsonOption,
  maxWaitOption,
  outOption,
  profileOption,
  reportOption,
  reportOutOption,
  seedOption,
} from "./shared/flags.ts";
import { runGate } from "./shared/gate-run.ts";
import { reportOn } from "./shared/write-reports.ts";

export const conformCommand = (context: CommandContext) =>
  new Command("conform")
    .description("judges a service by every rule; without a profile, the embedded fake")
    .addOption(profileOption)
    .addOption(behaviourOption)
    .option("--only <ids>", "judges these rules alone, separated by commas", listFlag)
    .option(
      "--section <names>",
      "judges these groups (code, refresh, ...) or sections of the document (4.1, ...)",
      listFlag,
    )
    .option(
      "--level <levels>",
      "judges these levels: required, derived, advisory, unspecified (untestable statements have no rule)",
      listFlag,
    )
    .option("--strict", "lets breaches of advisory rules fail the gate")
    .addOption(effortOption("standard"))
    .addOption(seedOption)
    .addOption(maxWaitOption)
    .addOption(outOption)
    .option(
      "--ledger <file>",
      "keeps credentials that cannot be waited for, and judges those of earlier runs that are due",
    )
    .option(
      "--resume <run>",
      "continues a run that was interrupted or killed: what had settled is taken over, and credentials that were waited for are judged when they are due",
    )
    .option("--ledger-key-file <file>", "file with the ledger's key, in the place of TOUCHSTONE_LEDGER_KEY")
    .option("--verbose", "prints every rule, every observation and all that was measured")
    .addOption(reportOption("writes reports of the run: "))
    .addOption(reportOutOption("reports go"))
    .addOption(jsonOption)
    .action(async (flags) => {
      const { output, programName } = context;
      const { quiet } = output.manner();
      const verbose = flags.verbose === true;
      if (verbose && quiet)
        throw new ConfigurationError([
          "--verbose and --quiet ask for opposite things; leave one of them out",
        ]);
      const { record, directory, pinned } = await runGate(context, flags);
      const { conformDocument } = await import("../reports/json/conform.ts");
      const { renderConform } = await import("../reports/terminal/conform.ts");
      const page = await output.page();
      if (flags.json) output.printJson(conformDocument(record, directory));
      else
        output.print(
          renderConform(record, { ...page, run: directory, pinned, quiet, verbose, program: programName }),
        );
      for (const file of await reportOn(context, [directory], flags, pinned)) output.say(`Report   ${file}`);
      context.exitWith(record.exitCode ?? exitCodes["harness-error"]);
    });
