import { Command, Option } from "@commander-js/extra-typings";
import { duetScenarioNames } from "../../conformance/contract/load-shape.ts";
import { durationFlag, integerFlag, shareFlag } from "../shared/flags.ts";
import { reportOption, jsonOption, rateOption, reportOutOption, seedOption } from "../shared/flags.ts";
import { comparedFormats } from "../../reports/formats.ts";

export const duet = new Command("duet")
  .arguments("<a> <b>")
  .description(
    "load two builds of a service alternately, and say whether b is slower or fails more often than a; each is a profile, or fake:BEHAVIOUR",
  )
  .option("--start-a <command>", "shell command that starts a; it is stopped afterwards")
  .option("--start-b <command>", "shell command that starts b; it is stopped afterwards")
  .option("--scenario <name>", duetScenarioNames.join(", "), "token")
  .addOption(rateOption("requests per second"))
  .option("--pairs <number>", "pairs of blocks", integerFlag("--pairs", 2, 1_000), 20)
  .addOption(
    new Option("--block <duration>", "length of a block; its first fifth is not measured")
      .default(10_000, "10s")
      .argParser(durationFlag("--block")),
  )
  .option(
    "--plan-for <share>",
    "run a few pairs, and say how many are needed to detect a change of this size, such as 5%",
    shareFlag("--plan-for"),
  )
  .option("--end-early", "stop at a planned interim analysis once a regression is certain")
  .addOption(seedOption)
  .option("--out <directory>", "folder of the blocks' records (default: a new one under runs/)")
  .addOption(reportOption("write the duet as files: ", comparedFormats))
  .addOption(reportOutOption("the page"))
  .addOption(jsonOption);
