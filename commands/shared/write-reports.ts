import { appendFileSync } from "node:fs";
import { fileReason } from "../../conformance/contract/files.ts";
import type { ReportFormat } from "../../reports/formats.ts";
import type { CommandContext } from "./context.ts";
import { readRun, type Run } from "../../reports/read/index.ts";
import { ciRunsOf, renderReport, writeReports } from "../../reports/write.ts";
import { checkPlace } from "../../reports/place.ts";
import { annotationsOf } from "../../reports/annotations/annotations.ts";

export interface ReportFlags {
  readonly report?: readonly ReportFormat[] | undefined;
  readonly reportOut?: string | undefined;
}

/** What GitLab shows in merge requests; its jobs name the files as artifacts. */
const gitlabFormats: readonly ReportFormat[] = ["junit", "codequality"];

/** Looks at the folder of the reports before anything runs: a finished run must not end without its report. Throws ConfigurationError. */
export const checkReportOut = (reportOut: string | undefined, flag = "--report-out"): void => {
  if (reportOut !== undefined) checkPlace({ folder: reportOut, flag });
};

/**
 * Writes the reports that were asked for, and tells the CI service that runs this what broke, in its own way. Returns
 * the files. `pinned` are fingerprints that the profile pins, by requirement id.
 */
export const reportOn = async (
  context: CommandContext,
  directories: readonly string[],
  { report = [], reportOut }: ReportFlags,
  pinned: Readonly<Record<string, string>> = {},
  flag = "--report-out",
): Promise<readonly string[]> => {
  const { environment, programName: program } = context;
  const isGitlab = environment["GITLAB_CI"] === "true";
  const formats = [...new Set([...report, ...(isGitlab ? gitlabFormats : [])])];
  const isCi = (environment["CI"] ?? "") !== "";
  if (formats.length === 0 && !isCi) return [];
  const runs = [];
  for (const directory of directories) runs.push(await readRun(directory));
  await tellCi(context, runs, pinned);
  if (formats.length === 0) return [];
  const out = reportOut ?? `${directories[0]}-report`;
  const root = environment["CI_PROJECT_DIR"] ?? process.cwd();
  return writeReports(runs, { formats, out, flag, program, pinned, root });
};

/** Marks what failed, and adds to the job's summary where the service has one. */
const tellCi = async (
  { output, environment, programName: program }: CommandContext,
  runs: readonly Run[],
  pinned: Readonly<Record<string, string>>,
): Promise<void> => {
  // Services read both streams; standard output may hold a document.
  const tell = output.manner().json ? output.complain : output.print;
  for (const line of annotationsOf(ciRunsOf(runs, pinned), environment, { program })) tell(line);
  const summary = environment["GITHUB_STEP_SUMMARY"] ?? "";
  if (summary === "") return;
  const text = await renderReport("markdown", runs, { program, pinned });
  try {
    appendFileSync(summary, text);
  } catch (error) {
    output.complain(
      `GITHUB_STEP_SUMMARY: ${summary} cannot be written (${fileReason(error)}); the job goes on without its summary`,
    );
  }
};

/** Where reports go unless a folder is given. */
export const besideRun = (run: string): string => `${run.replace(/[\\/]+$/, "")}-report`;
