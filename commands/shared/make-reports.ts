import { appendFileSync } from "node:fs";
import { fileReason } from "../../conformance/contract/files.ts";
import { annotationsOf } from "../../reports/ci/problems.ts";
import type { ReportFormat } from "../../reports/formats.ts";
import { readRun, type Run } from "../../reports/read/index.ts";
import { runsIn } from "../../reports/read/parts.ts";
import { suitesOf } from "../../reports/ci/cases.ts";
import { renderReport, writeReports } from "../../reports/write.ts";
import type { CommandContext } from "./context.ts";

export const makeReports = async (
  context: CommandContext,
  directories: readonly string[],
  asked: {
    readonly formats: readonly ReportFormat[];
    readonly flag: string;
    readonly out: string;
  },
): Promise<readonly string[]> => {
  const { environment, programName: program } = context;
  const runs = [];
  for (const directory of directories.flatMap(runsIn)) runs.push(await readRun(directory));
  await tellCi(context, runs);
  if (asked.formats.length === 0) return [];
  const root = environment["CI_PROJECT_DIR"] ?? process.cwd();
  return writeReports(runs, { ...asked, program, root });
};

/** Annotates failures, and adds to the job's summary if the service has one. */
const tellCi = async (
  { output, environment, programName: program }: CommandContext,
  runs: readonly Run[],
): Promise<void> => {
  for (const line of annotationsOf(suitesOf(runs, program), environment)) output.annotate(line);
  const summary = environment["GITHUB_STEP_SUMMARY"] ?? "";
  if (summary === "") return;
  const text = await renderReport("markdown", runs, { program });
  try {
    appendFileSync(summary, text);
  } catch (error) {
    output.complain(
      `GITHUB_STEP_SUMMARY: ${summary} cannot be written (${fileReason(error)}); the job continues without its summary`,
    );
  }
};
