import type { ReportFormat } from "../../reports/formats.ts";
import type { CommandContext } from "./context.ts";
import { readRun } from "../../reports/read/index.ts";
import { ciRunsOf, writeReports } from "../../reports/write.ts";
import { checkPlace } from "../../reports/place.ts";
import { annotationsOf } from "../../reports/annotations/annotations.ts";

export interface ReportFlags {
  readonly report?: ReportFormat[] | undefined;
  readonly reportOut?: string | undefined;
}

/** Looks at the folder of the reports before anything runs: whoever waited for a run wants its report. Throws ConfigurationError. */
export const checkReportOut = (reportOut: string | undefined, flag = "--report-out"): void => {
  if (reportOut !== undefined) checkPlace({ folder: reportOut, flag });
};

/**
 * Writes the reports that were asked for, and tells the CI service that runs this what broke. Returns the
 * files. `pinned` are fingerprints that the profile pins, by requirement id.
 */
export const reportOn = async (
  { output, environment, programName }: CommandContext,
  directories: readonly string[],
  { report = [], reportOut }: ReportFlags,
  pinned: Readonly<Record<string, string>> = {},
  flag = "--report-out",
): Promise<readonly string[]> => {
  const isCi = (environment["CI"] ?? "") !== "";
  if (report.length === 0 && !isCi) return [];
  const runs = [];
  for (const directory of directories) runs.push(await readRun(directory));
  for (const line of annotationsOf(ciRunsOf(runs, pinned), environment, { program: programName }))
    if (!output.manner().json) output.print(line);
  if (report.length === 0) return [];
  const out = reportOut ?? `${directories[0]}-report`;
  return writeReports(runs, { formats: report, out, flag, program: programName, pinned });
};

/** Where reports go unless a folder is given. */
export const besideRun = (run: string): string => `${run.replace(/[\\/]+$/, "")}-report`;
