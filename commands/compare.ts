import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import path from "node:path";
import { jsonFile } from "../conformance/contract/harmless-text.ts";
import { tool } from "../conformance/record/tool.ts";
import { readRun } from "../reports/read/index.ts";
import { compareRuns } from "../reports/compare/compare.ts";
import type { ComparisonVerdict } from "../reports/compare/shape.ts";
import { baselineOf } from "../reports/compare/fingerprint.ts";
import { compareDoc } from "../reports/document/compare.ts";
import { comparisonSuite } from "../reports/ci/compared.ts";
import { writeDocument } from "../reports/write.ts";
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

export const run: Action<typeof definition> = async ({ output, exitWith }, directories, flags) => {
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
    const out = flags.out ?? besideRun(head.directory);
    const stored = jsonFile({ tool: tool.version, exitCode, comparison });
    const files = writeDocument(shown, {
      name: "comparison",
      formats: flags.report,
      out,
      suite: comparisonSuite(comparison, exitCode),
      beside: [[path.join(out, "comparison.json"), stored]],
    });
    for (const file of files) output.say(`Report   ${file}`);
  }
  exitWith(exitCode);
};
