import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { readRun, type Run } from "../reports/read/index.ts";
import { compareRuns } from "../reports/compare/compare.ts";
import type { ComparisonVerdict } from "../reports/compare/shape.ts";
import { baselineOf } from "../reports/compare/fingerprint.ts";
import { compareDoc } from "../reports/document/compare.ts";
import { renderReport } from "../reports/write.ts";
import { writeComparison } from "./shared/make-reports.ts";
import { besideRun, checkReportOut, refuseTwice } from "./shared/write-reports.ts";
import type { compare as definition } from "./flags/reports.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { show } from "./shared/show.ts";

const codes: Readonly<Record<ComparisonVerdict, number>> = {
  regressed: exitCodes.failed,
  incomplete: exitCodes.incomplete,
  drifted: exitCodes.drifted,
  "no regression": exitCodes.passed,
};

export const run: Action<typeof definition> = async (
  { output, exitWith, programName },
  directories,
  flags,
) => {
  if (flags.out !== undefined && flags.report === undefined)
    throw new ConfigurationError(["--out needs --report"]);
  const { baseline } = flags;
  checkReportOut(flags.out, "--out");
  const force = flags.force === true;
  refuseTwice(directories);
  const runs = [];
  for (const directory of directories) runs.push(await readRun(directory));
  const head = runs.at(-1);
  if (head === undefined || (directories.length < 2 && baseline === undefined))
    throw new ConfigurationError([
      "compare takes two or more run directories, or one and --baseline <folder> with the earlier ones",
    ]);
  const earlier = baseline === undefined ? undefined : await baselineOf(baseline, head, directories);
  const bases = [...(earlier?.runs ?? []), ...runs.slice(0, -1)];
  const comparison = compareRuns(bases, head, { force, leftOut: earlier?.leftOut ?? [] });
  const shown = compareDoc(comparison);
  show(output, shown, comparison);
  const exitCode = codes[comparison.verdict];
  if (flags.report !== undefined) {
    const base = bases.findLast(({ directory }) => directory === comparison.base.directory);
    const pageOf = (run: Run): Promise<string> => renderReport("html", [run], { program: programName });
    const files = writeComparison(comparison, {
      exitCode,
      formats: flags.report,
      out: flags.out ?? besideRun(head.directory),
      ...(flags.report.includes("html") && base !== undefined
        ? { pages: { base: await pageOf(base), head: await pageOf(head) } }
        : {}),
    });
    for (const file of files) output.say(`Report   ${file}`);
  }
  exitWith(exitCode);
};
