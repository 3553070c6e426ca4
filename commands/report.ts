import { Command, Option } from "@commander-js/extra-typings";
import { exitCodes } from "../conformance/contract/record.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import { jsonOption, reportOption } from "./shared/flags.ts";
import { reportOn } from "./shared/write-reports.ts";

export const reportCommand = (context: CommandContext) =>
  new Command("report")
    .arguments("[runs...]")
    .description(
      "writes reports of one or several run directories, or looks whether they are as they were sealed",
    )
    .addOption(reportOption(""))
    .option("--out <directory>", "where reports go; a folder beside the first run where left out")
    .addOption(
      new Option(
        "--schema <name>",
        "prints the JSON Schema of a file of run directories, or of its lines",
      ).choices(["conform", "load", "duet", "manifest", "exchange", "rule", "second", "breach"] as const),
    )
    .option(
      "--verify",
      "compares every file of the runs with the manifest that sealed them, and writes nothing",
    )
    .addOption(jsonOption)
    .action(async (directories, flags) => {
      const { output } = context;
      if (flags.schema !== undefined) {
        const { schemaOf } = await import("../reports/read/index.ts");
        return output.printJson(schemaOf(flags.schema));
      }
      if (directories.length === 0)
        throw new ConfigurationError(["report takes one or more run directories, or --schema <name>"]);
      if (flags.verify === true) return verifyRuns(context, directories, flags.json === true);
      const { report = ["html"], out: reportOut } = flags;
      const files = await reportOn(context, directories, { report, reportOut });
      if (flags.json) output.printJson({ files });
      else output.print(files.join("\n"));
    });

/** Says of each run whether its files are as they were when it was sealed. */
const verifyRuns = async (
  { output, exitWith }: CommandContext,
  directories: readonly string[],
  json: boolean,
): Promise<void> => {
  const { readRun, verify } = await import("../reports/read/index.ts");
  const found = [];
  for (const directory of directories) {
    await readRun(directory, { altered: "read" });
    found.push({ run: directory, ...(await verify(directory)) });
  }
  const { renderVerified } = await import("../reports/terminal/verified.ts");
  if (json) output.printJson(found);
  else output.print(renderVerified(found, await output.page()));
  if (found.some(({ state }) => state === "altered")) exitWith(exitCodes.failed);
  else if (found.some(({ state }) => state === "unsealed")) exitWith(exitCodes.incomplete);
};
