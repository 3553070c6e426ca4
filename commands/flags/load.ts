import { Command } from "@commander-js/extra-typings";
import { durationFlag, integerFlag, listFlag, tagFlag } from "../shared/flags.ts";
import {
  behaviourOption,
  jsonOption,
  k6OutOption,
  maxWaitOption,
  outOption,
  profileOption,
  reportOption,
  reportOutOption,
  seedOption,
} from "../shared/flags.ts";
import { scenarioNames, shapeNames } from "../../conformance/contract/load-shape.ts";
import { reportFormats } from "../../reports/formats.ts";

export const load = new Command("load")
  .description("load a service with k6 while checking the rules; without a profile, the embedded fake")
  .addOption(profileOption)
  .addOption(behaviourOption)
  .option("--scenario <name>", [...scenarioNames, "breakpoint"].join(", "), "mixed")
  .option("--shape <name>", `${shapeNames.join(", ")} (default: the profile's load.shape, or constant)`)
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
