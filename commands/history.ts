import { Command } from "@commander-js/extra-typings";
import { choiceFlag, dateFlag, integerFlag } from "../conformance/flags.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import { jsonOption } from "./shared/flags.ts";
import { given } from "./shared/given.ts";

export const historyCommand = ({ output }: CommandContext) =>
  new Command("history")
    .arguments("[folder]")
    .description(
      "the runs of a folder over time: verdicts, latency with the places where it changed, flaky rules",
    )
    .option("--rule <id>", "verdicts of this rule alone")
    .option("--endpoint <name>", "latency of this endpoint alone")
    .option("--metric <name>", "p50, p95, p99 or requests per second alone")
    .option("--kind <kind>", "conform or load", choiceFlag("--kind", ["conform", "load"] as const))
    .option("--target <name>", "runs against this target alone")
    .option("--since <date>", "runs that started then or later, as YYYY-MM-DD", dateFlag("--since"))
    .option("--last <number>", "the latest so many runs alone", integerFlag("--last", 1, 1_000_000))
    .option(
      "--report <format>",
      "html: writes the history as a page",
      choiceFlag("--report", ["html"] as const),
    )
    .option("--out <directory>", "where the page goes; a folder beside the runs where left out")
    .addOption(jsonOption)
    .action(async (folder = "runs", { json, report, out, ...selection }) => {
      if (out !== undefined && report === undefined)
        throw new ConfigurationError(["--out is for --report html, which is missing"]);
      const { historyOf } = await import("../reports/history/index.ts");
      const { renderHistory } = await import("../reports/terminal/run-history.ts");
      const history = await historyOf(folder, given(selection));
      if (json) output.printJson(history);
      else output.print(renderHistory(history, await output.page()));
      if (report === undefined) return;
      const { writeHistory } = await import("../reports/write.ts");
      const file = writeHistory(history, out ?? `${history.folder.replace(/[\\/]+$/, "")}-report`);
      output.say(`Report  ${file}`);
    });
