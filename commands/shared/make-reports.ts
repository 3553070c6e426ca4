import { appendFileSync, existsSync } from "node:fs";
import { fileReason } from "../../conformance/contract/files.ts";
import { annotationsOf } from "../../reports/ci/problems.ts";
import type { ReportFormat, ComparedFormat } from "../../reports/formats.ts";
import { readRun, type Run } from "../../reports/read/index.ts";
import { runsIn } from "../../reports/read/parts.ts";
import { suitesOf } from "../../reports/ci/cases.ts";
import { renderReport, writeReports, writeDocument } from "../../reports/write.ts";
import type { CommandContext } from "./context.ts";
import path from "node:path";
import { tool } from "../../conformance/record/tool.ts";
import { comparisonSuite } from "../../reports/ci/compared.ts";
import type { Comparison } from "../../reports/compare/shape.ts";
import { storedComparison } from "../../reports/compare/stored.ts";
import { compareDoc } from "../../reports/document/compare.ts";

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

interface ComparedReports {
  readonly exitCode: number;
  readonly formats: readonly ComparedFormat[];
  readonly out: string;
  readonly pages?: Readonly<Record<"base" | "head", string>>;
}

const pageNames = { base: "base.html", head: "head.html" } as const;

/**
 * Writes a comparison with everything `report` needs to write it again, and returns its reports. Throws
 * ConfigurationError.
 */
export const writeComparison = (
  comparison: Comparison,
  { exitCode, formats, out, pages }: ComparedReports,
): readonly string[] => {
  const linked = (side: keyof typeof pageNames): string | undefined =>
    pages !== undefined || existsSync(path.join(out, pageNames[side])) ? pageNames[side] : undefined;
  return writeDocument(compareDoc(comparison), {
    page: compareDoc(comparison, { base: linked("base"), head: linked("head") }),
    name: "comparison",
    formats,
    out,
    suite: comparisonSuite(comparison, exitCode),
    beside: [
      storedComparison(out, { tool: tool.version, exitCode, comparison }),
      ...Object.entries(pages ?? {}).map(([side, text]) => [path.join(out, `${side}.html`), text] as const),
    ],
  });
};
