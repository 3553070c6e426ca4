import { Command } from "@commander-js/extra-typings";
import { endpointNames } from "../../conformance/contract/forms.ts";
import { choiceFlag, dateFlag, integerFlag } from "../shared/flags.ts";
import { reportOption, jsonOption } from "../shared/flags.ts";
import { documentFormats } from "../../reports/formats.ts";

/** What can be selected: a misspelt name would match nothing and look as if all were well. */
const endpoints = [...endpointNames, "trigger", "all"] as const;
const metrics = ["p50", "p95", "p99", "requests per second"] as const;

export const history = new Command("history")
  .arguments("[folder]")
  .description("show the runs in a folder over time: verdicts, latencies with change points, flaky rules")
  .option("--rule <id>", "only the verdicts of this rule")
  .option("--endpoint <name>", "only the latency of this endpoint", choiceFlag("--endpoint", endpoints))
  .option(
    "--metric <name>",
    "only this metric: p50, p95, p99 or requests per second",
    choiceFlag("--metric", metrics),
  )
  .option(
    "--kind <kind>",
    "only these runs: conform or load",
    choiceFlag("--kind", ["conform", "load"] as const),
  )
  .option("--target <name>", "only runs against this target")
  .option("--since <date>", "only runs started on or after this day, as YYYY-MM-DD", dateFlag("--since"))
  .option(
    "--last <number>",
    "only the latest N runs (default: 50, or all since --since)",
    integerFlag("--last", 1, 1_000_000),
  )
  .addOption(reportOption("write the history as files: ", documentFormats))
  .option("--out <directory>", "folder of the page (default: beside the runs)")
  .addOption(jsonOption);
