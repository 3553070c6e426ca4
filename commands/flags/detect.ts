import { availableParallelism } from "node:os";
import { Command, Option } from "@commander-js/extra-typings";
import { choiceFlag, integerFlag, listFlag } from "../shared/flags.ts";
import { efforts } from "../../conformance/checks/effort.ts";
import { jsonOption, seedOption } from "../shared/flags.ts";

export const detect = new Command("detect")
  .description(
    "measure how many seeded defects the rules find, and count false alarms on conforming variants",
  )
  .option("--full", "judge every defect by every rule at standard effort, and list every rule that failed")
  .option("--behaviour <names>", "only these defects and variants", listFlag)
  .addOption(
    new Option("--effort <effort>", `${efforts.join(", ")} (default: quick, with --full standard)`).argParser(
      choiceFlag("--effort", efforts),
    ),
  )
  .addOption(seedOption)
  .option("--jobs <number>", "number of processes", integerFlag("--jobs", 1, 64), availableParallelism())
  .option("--shard <i/n>", "only the i-th of n parts, to divide the work among machines")
  .addOption(jsonOption);
