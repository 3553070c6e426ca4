import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { besideRun, reportOn } from "./shared/write-reports.ts";
import { duetDoc } from "../reports/document/duet.ts";
import type { DuetDocument } from "../reports/duet/document.ts";
import { readDuet } from "../reports/read/duet.ts";
import { documentFormats, type ReportFormat } from "../reports/formats.ts";
import { writeDocument } from "../reports/write.ts";
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
  const [only = ""] = directories;
  const duet = directories.length === 1 ? readDuet(only) : undefined;
  const files =
    duet === undefined
      ? await reportOn(context, directories, { report, reportOut }, {}, "--out")
      : report.map((format) => writeDuetReport(only, duet, { format, out: reportOut ?? besideRun(only) }));
  if (flags.json) output.printJson({ files });
  else output.print(files.join("\n"));
};

const writeDuetReport = (
  run: string,
  duet: DuetDocument,
  { format, out }: { readonly format: ReportFormat; readonly out: string },
): string => {
  const known = documentFormats.find((one) => one === format);
  if (known === undefined)
    throw new ConfigurationError([
      { key: "--report", value: format, accepted: `${documentFormats.join(" or ")} for a duet` },
    ]);
  const shown = duetDoc(duet, { run, isPilot: duet.plan !== undefined });
  return writeDocument(shown, { name: "duet", format: known, out });
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
