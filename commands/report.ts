import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { reportOn } from "./shared/write-reports.ts";
import { schemaOf, readRun, verify } from "../reports/read/index.ts";
import { verifiedDoc } from "../reports/document/verified.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import type { report as definition } from "./flags/report.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

export const run: Action<typeof definition> = async (context, directories, flags) => {
  const { output } = context;
  if (flags.schema !== undefined) {
    return output.printJson(schemaOf(flags.schema));
  }
  if (directories.length === 0)
    throw new ConfigurationError(["report takes one or more run directories, or --schema <name>"]);
  if (flags.verify === true) return verifyRuns(context, directories, flags.json === true);
  const { report = ["html"], out: reportOut } = flags;
  const files = await reportOn(context, directories, { report, reportOut }, {}, "--out");
  if (flags.json) output.printJson({ files });
  else output.print(files.join("\n"));
};

/** Says of each run whether its files are as they were when it was sealed. */
const verifyRuns = async (
  { output, exitWith }: CommandContext,
  directories: readonly string[],
  json: boolean,
): Promise<void> => {
  const found = [];
  for (const directory of directories) {
    await readRun(directory, { altered: "read" });
    found.push({ run: directory, ...(await verify(directory)) });
  }
  if (json) output.printJson(found);
  else output.print(renderTerminal(verifiedDoc(found), output.page()));
  if (found.some(({ state }) => state === "altered")) exitWith(exitCodes.failed);
  else if (found.some(({ state }) => state === "unsealed")) exitWith(exitCodes.incomplete);
};
