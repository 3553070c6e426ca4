import type { Comparison } from "../compare/shape.ts";
import { duetExitCode, type DuetDocument } from "../duet/document.ts";
import { suiteOf, type CiSuite } from "./cases.ts";

/* Comparisons and duets as test cases: worse is a failure, what could not be compared is skipped. They have no times. */

export const comparisonSuite = (
  { base, head, verdict, cases, unchanged }: Comparison,
  exitCode: number,
): CiSuite =>
  suiteOf(
    {
      name: "comparison",
      outcome: verdict,
      incomplete: verdict === "incomplete" ? "the two runs did not complete the same checks" : undefined,
      exitCode,
      startedAt: head.startedAt,
      tool: head.tool,
      run: `${base.directory} and ${head.directory}`,
      target: `${head.target} ${head.baseUrl}`,
    },
    [
      ...cases,
      {
        id: "all others",
        group: "unchanged",
        status: "passed",
        verdict: "unchanged",
        seen: `${unchanged} with the same verdict in both`,
      },
    ],
  );

export const duetSuite = (duet: DuetDocument, run: string): CiSuite =>
  suiteOf(
    {
      name: "duet",
      outcome: duet.state === "ended" ? duet.verdict : duet.state,
      exitCode: duetExitCode(duet),
      startedAt: duet.startedAt,
      tool: duet.tool,
      run,
      target: `${duet.a} and ${duet.b}`,
      seed: duet.seed,
    },
    duet.cases,
  );
