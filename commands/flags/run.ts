import { Command, Option } from "@commander-js/extra-typings";
import { choiceFlag, durationFlag } from "../shared/flags.ts";
import {
  behaviourOption,
  effortOption,
  jsonOption,
  k6OutOption,
  maxWaitOption,
  onlyOption,
  profileOption,
  rateOption,
  reportOption,
  reportOutOption,
  seedOption,
  wholeOutOption,
} from "../shared/flags.ts";
import { scenarioNames } from "../../conformance/contract/load-shape.ts";
import { reportFormats } from "../../reports/formats.ts";

export const run = new Command("run")
  .description("run a complete CI job: the gate, a short load run, and one report of both")
  .addOption(profileOption)
  .addOption(behaviourOption)
  .addOption(onlyOption)
  .addOption(effortOption)
  .addOption(seedOption)
  .addOption(maxWaitOption)
  .addOption(
    new Option("--scenario <name>", `scenario of the load run: ${scenarioNames.join(", ")}`)
      .default("mixed" as const)
      .argParser(choiceFlag("--scenario", scenarioNames)),
  )
  .addOption(rateOption("requests per second of the load run"))
  .addOption(
    new Option("--duration <duration>", "duration of the load")
      .default(5_000, "5s")
      .argParser(durationFlag("--duration")),
  )
  .addOption(k6OutOption)
  .addOption(wholeOutOption)
  .addOption(reportOption("write reports of both runs (default: html): ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);
