import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { readRun } from "../reports/read/index.ts";
import { baselineOf, compareRuns, type ComparisonVerdict } from "../reports/compare/index.ts";
import { seededRandom } from "../conformance/contract/random.ts";
import { compareDoc } from "../reports/document/compare.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import { writeDocument } from "../reports/write.ts";
import { besideRun, checkReportOut } from "./shared/write-reports.ts";
import type { compare as definition } from "./flags/compare.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

const codes: Readonly<Record<ComparisonVerdict, number>> = {
  regressed: exitCodes.failed,
  incomplete: exitCodes.incomplete,
  drifted: exitCodes.drifted,
  "no regression": exitCodes.passed,
};

export const run: Action<typeof definition> = async ({ output, exitWith }, directories, flags) => {
  if (flags.out !== undefined && flags.report === undefined)
    throw new ConfigurationError(["--out is for --report, which is missing"]);
  const { baseline } = flags;
  checkReportOut(flags.out, "--out");
  const force = flags.force === true;
  const runs = [];
  for (const directory of directories) runs.push(await readRun(directory, force ? { altered: "read" } : {}));
  const head = runs.at(-1);
  if (head === undefined || (directories.length < 2 && baseline === undefined))
    throw new ConfigurationError([
      "compare takes two or more run directories, or one and --baseline <folder> with the earlier ones",
    ]);
  const earlier = baseline === undefined ? undefined : await baselineOf(baseline, head);
  const comparison = await compareRuns([...(earlier?.runs ?? []), ...runs.slice(0, -1)], head, {
    force,
    leftOut: earlier?.leftOut ?? [],
    random: seededRandom(flags.seed ?? 1),
  });
  const shown = compareDoc(comparison);
  if (flags.json) output.printJson(comparison);
  else output.print(renderTerminal(shown, output.page()));
  if (flags.report !== undefined) {
    const out = flags.out ?? besideRun(head.directory);
    output.say(`Report  ${writeDocument(shown, { name: "comparison", format: flags.report, out })}`);
  }
  exitWith(codes[comparison.verdict]);
};
