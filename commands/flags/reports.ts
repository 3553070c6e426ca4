import { Command } from "@commander-js/extra-typings";
import { endpointNames } from "../../conformance/contract/forms.ts";
import { comparedFormats, documentFormats, reportFormats, schemaNames } from "../../reports/formats.ts";
import { choiceFlag, dateFlag, integerFlag, jsonOption, reportOption } from "../shared/flags.ts";

export const report = new Command("report")
  .arguments("[runs...]")
  .description("write reports of run directories, or print the JSON Schema of their files")
  .addOption(reportOption("", reportFormats))
  .option("--out <directory>", "folder of the reports (default: beside the first run)")
  .option(
    "--schema <name>",
    `print the JSON Schema of a file in run directories, or of its lines: ${schemaNames.join(", ")}`,
    choiceFlag("--schema", schemaNames),
  )
  .addOption(jsonOption);

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
  .addOption(jsonOption);

/** What can be selected: a misspelt name would match nothing and look as if all were well. */
const endpoints = [...endpointNames, "trigger", "all"] as const;
const metrics = ["p50", "p95", "p99", "requests per second"] as const;

export const history = new Command("history")
  .arguments("[folder]")
  .description("show the runs in a folder over time: verdicts and latencies, the newest change first")
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
  .option("--since <date>", "only runs started on or after this day, as YYYY-MM-DD", dateFlag)
  .option(
    "--last <number>",
    "only the latest N runs (default: 50, or all since --since)",
    integerFlag("--last", 1, 1_000_000),
  )
  .addOption(reportOption("write the history as files: ", documentFormats))
  .option("--out <directory>", "folder of the page (default: beside the runs)")
  .addOption(jsonOption);
