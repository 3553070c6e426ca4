import { existsSync, realpathSync } from "node:fs";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { ReportFormat } from "../../reports/formats.ts";
import { checkPlace } from "../../reports/place.ts";
import type { CommandContext } from "./context.ts";

export interface ReportFlags {
  readonly report?: readonly ReportFormat[] | undefined;
  readonly reportOut?: string | undefined;
}

/** The formats GitLab shows in merge requests; jobs name the files as artifacts. */
const gitlabFormats: readonly ReportFormat[] = ["junit", "codequality"];

/**
 * Checks the report folder before anything runs: a finished run must not end without its report. Throws
 * ConfigurationError.
 */
export const checkReportOut = (folder: string | undefined, flag = "--report-out"): void => {
  if (folder !== undefined) checkPlace({ folder, flag });
};

/** A run compared with itself differs in nothing and would pass; reported beside itself, it would count as two. */
export const refuseTwice = (directories: readonly string[]): void => {
  const met = new Map<string, string>();
  for (const directory of directories.filter((one) => existsSync(one))) {
    const real = realpathSync(directory);
    const same = met.get(real);
    if (same !== undefined)
      throw new ConfigurationError([`"${same}" and "${directory}" are the same folder; give different runs`]);
    met.set(real, directory);
  }
};

/**
 * Writes the requested reports, and tells the surrounding CI service what broke, in its own format. Returns the files.
 */
export const reportOn = async (
  context: CommandContext,
  directories: readonly string[],
  { report = [], reportOut }: ReportFlags,
  flag = "--report-out",
): Promise<readonly string[]> => {
  const { environment } = context;
  const isGitlab = environment["GITLAB_CI"] === "true";
  const formats = [...new Set([...report, ...(isGitlab ? gitlabFormats : [])])];
  const isCi = (environment["CI"] ?? "") !== "";
  if (formats.length === 0 && !isCi) return [];
  // Reading records and rendering reports would be a third of the code a gate loads, and most runs write no
  // report.
  const { makeReports } = await import("./make-reports.ts");
  return makeReports(context, directories, {
    formats,
    flag,
    out: reportOut ?? `${directories[0]}-report`,
  });
};

/** The default folder of reports. */
export const besideRun = (run: string): string => `${run.replace(/[\\/]+$/, "")}-report`;
