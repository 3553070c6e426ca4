import { Command } from "@commander-js/extra-typings";
import { durationFlag, integerFlag, listFlag, tagFlag } from "../shared/flag-values.ts";
import {
  behaviourOption,
  jsonOption,
  maxWaitOption,
  outOption,
  pageOption,
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
    "a stage of a custom load, as in k6: climb to so many requests per second in this time, such as 30s:100; repeat for more, in place of --shape, --rate and --duration",
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
    "time at the start that objectives ignore (default: a tenth, at most 5s)",
    durationFlag("--warm-up"),
  )
  .option(
    "--vus <number>",
    "most virtual users that k6 may use (default: from the rate)",
    integerFlag("--vus", 1, 100_000),
  )
  .option(
    "--k6-out <output>",
    "k6 sends its metrics there as well: opentelemetry or experimental-prometheus-rw, set up by K6_OTEL_... or K6_PROMETHEUS_RW_...",
  )
  .option("--tag <name=value>", "words that name the run, kept in its record; repeat for more", tagFlag)
  .option("--verbose-k6", "print k6's own log as it arrives")
  .addOption(seedOption)
  .option(
    "--segment <part>",
    "play segment I of N as I/N, or as the scheduler says with auto; the merge command makes one run of all",
  )
  .option("--run-id <id>", "name of the run that all its segments share, and no other run")
  .option("--start-at <moment>", "when all segments begin, such as 2030-01-31T10:05:00Z")
  .addOption(maxWaitOption)
  .addOption(outOption)
  .addOption(reportOption("write reports of the run: ", reportFormats))
  .addOption(pageOption)
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);
