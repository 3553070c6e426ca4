import { Command, Option } from "@commander-js/extra-typings";
import { duetScenarioNames, scenarioNames, shapeNames } from "../../conformance/contract/load-shape.ts";
import { comparedFormats, reportFormats } from "../../reports/formats.ts";
import {
  behaviourOption,
  fakeOption,
  choiceFlag,
  durationFlag,
  effortOption,
  integerFlag,
  jsonOption,
  k6OutOption,
  listFlag,
  maxWaitOption,
  onlyOption,
  outOption,
  profileOption,
  rateOption,
  reportOption,
  reportOutOption,
  seedOption,
  tagFlag,
  wholeOutOption,
} from "../shared/flags.ts";

export const load = new Command("load")
  .description("load a service with k6 while checking the rules; without a profile, the embedded fake")
  .addOption(profileOption)
  .addOption(fakeOption)
  .addOption(behaviourOption)
  .option("--scenario <name>", scenarioNames.join(", "), "mixed")
  .option(
    "--shape <name>",
    `${shapeNames.join(", ")}; breakpoint is a ramp up to --rate that ends when an objective gives way (default: the profile's load.shape, or constant)`,
  )
  .option(
    "--stage <duration:rate>",
    "a stage of a custom load, as in k6: the time in which to reach a number of requests per second, such as 30s:100; repeat it for more stages; replaces --shape, --rate and --duration",
    listFlag,
  )
  .option(
    "--rate <number>",
    "requests per second at the peak (default: 100)",
    integerFlag("--rate", 1, 1_000_000),
  )
  .option(
    "--duration <duration>",
    "duration of the load, such as 10s, 5m or 1h (default: 30s)",
    durationFlag("--duration"),
  )
  .option(
    "--warm-up <duration>",
    "time at the start that objectives ignore, rounded up to whole seconds (default: a tenth, at most 5s)",
    durationFlag("--warm-up"),
  )
  .option(
    "--vus <number>",
    "maximum number of virtual users for k6 (default: depends on the rate)",
    integerFlag("--vus", 1, 100_000),
  )
  .addOption(k6OutOption)
  .option("--tag <name=value>", "a label for the run, kept in its record; repeat for more", tagFlag)
  .option("--verbose-k6", "print k6's own log as it arrives")
  .addOption(seedOption)
  .option(
    "--segment <part>",
    "run segment I of N, given as I/N, or auto to ask the scheduler; the merge command combines all segments",
  )
  .option("--run-id <id>", "name of the run: the same for all of its segments, different for every other run")
  .option("--start-at <moment>", "the moment at which all segments start, such as 2030-01-31T10:05:00Z")
  .addOption(maxWaitOption)
  .addOption(outOption)
  .addOption(reportOption("write reports of the run: ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);

export const merge = new Command("merge")
  .arguments("<records...>")
  .description("combine the records of all segments of a load (load --segment) into one run")
  .addOption(outOption)
  .addOption(reportOption("write reports of the merged run: ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);

export const run = new Command("run")
  .description("run a complete CI job: the gate, a short load run, and one report of both")
  .addOption(profileOption)
  .addOption(fakeOption)
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
  .addOption(seedOption)
  .option("--out <directory>", "folder of the blocks' records (default: a new one under runs/)")
  .addOption(reportOption("write the duet as files: ", comparedFormats))
  .addOption(reportOutOption("the page"))
  .addOption(jsonOption);
