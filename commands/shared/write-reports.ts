import type { ReportFormat } from "../../reports/formats.ts";
import type { CommandContext } from "./context.ts";
import { readRun } from "../../reports/read/index.ts";
import { ciRunsOf, writeReports } from "../../reports/write.ts";
import { annotationsOf } from "../../reports/annotations/annotations.ts";

interface ReportFlags {
  readonly report?: ReportFormat[] | undefined;
  readonly reportOut?: string | undefined;
}

/**
 * Writes the reports that were asked for, and tells the CI service that runs this what broke. Returns the
 * files. `pinned` are fingerprints that the profile pins, by requirement id.
 */
export const reportOn = async (
  { output, environment, programName }: CommandContext,
  directories: readonly string[],
  { report = [], reportOut }: ReportFlags,
  pinned: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> => {
  const isCi = (environment["CI"] ?? "") !== "";
  if (report.length === 0 && !isCi) return [];
  const runs = [];
  for (const directory of directories) runs.push(await readRun(directory));
  for (const line of annotationsOf(ciRunsOf(runs, pinned), environment, { program: programName }))
    if (!output.manner().json) output.print(line);
  if (report.length === 0) return [];
  const out = reportOut ?? `${directories[0]}-report`;
  return writeReports(runs, { formats: report, out, program: programName, pinned });
};

/** Where reports go unless a folder is given. */
export const besideRun = (run: string): string => `${run.replace(/[\\/]+$/, "")}-report`;
