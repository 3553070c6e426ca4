import type { ReportFormat } from "../../reports/formats.ts";
import { checkPlace } from "../../reports/place.ts";
import type { CommandContext } from "./context.ts";

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
  const { environment } = context;
  const isGitlab = environment["GITLAB_CI"] === "true";
  const formats = [...new Set([...report, ...(isGitlab ? gitlabFormats : [])])];
  const isCi = (environment["CI"] ?? "") !== "";
  if (formats.length === 0 && !isCi) return [];
  // What reads records and renders reports is a third of what a gate would load: most runs write none.
  const { makeReports } = await import("./make-reports.ts");
  return makeReports(context, directories, {
    formats,
    pinned,
    flag,
    out: reportOut ?? `${directories[0]}-report`,
  });
};

/** Where reports go unless a folder is given. */
export const besideRun = (run: string): string => `${run.replace(/[\\/]+$/, "")}-report`;
