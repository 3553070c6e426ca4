import { exitCodeMeanings, type RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { elapsed, plural } from "../text/figures.ts";
import { flow, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { definitions } from "./table.ts";
import { inColourOf, verdictOrder, wordOf } from "./verdicts.ts";

/** The last lines: how many of each verdict, where the record is, and what the exit code means. */
export const totals = (record: RunRecord, page: Page, run: string): string[] => {
  const { palette } = page;
  const counts = verdictOrder.flatMap((kind) => {
    const count = record.rules.filter(({ verdict }) => verdict.kind === kind).length;
    return count === 0 ? [] : [inColourOf(kind, palette, `${count} ${wordOf(kind)}`)];
  });
  const cases = record.rules.reduce((sum, { verdict }) => sum + casesOf(verdict), 0);
  const took =
    record.endedAt === undefined
      ? ""
      : ` in ${elapsed(Date.parse(record.endedAt) - Date.parse(record.startedAt))}`;
  return [
    "",
    ...definitions(
      [
        [
          "Rules",
          counts.length === 0 ? ["none was judged"] : flow(counts, palette.dim(" · "), page.columns - 9),
        ],
        ["Cases", [`${plural(cases, "case")}${took}`]],
        ["Record", [safe(run)]],
        ["Outcome", outcomeLines(record, page)],
      ].map(([label, lines]) => [palette.bold(String(label)), lines as readonly string[]] as const),
    ),
  ];
};

const outcomeLines = (record: RunRecord, page: Page): string[] => {
  const { outcome, exitCode } = record;
  if (outcome === undefined || exitCode === undefined)
    return [page.palette.yellow("the run was cut off; this is what had been judged by then")];
  const onlyWarned = outcome === "failed" && !record.rules.some(({ verdict }) => verdict.kind === "failed");
  const meaning = onlyWarned
    ? "an advisory rule warned, and --strict counts that as a failure"
    : (exitCodeMeanings[exitCode] ?? "");
  const paint = { passed: page.palette.green, failed: page.palette.red, "harness-error": page.palette.red };
  const lines = wrap(`${outcome.replace("-", " ")}: ${meaning} (exit code ${exitCode})`, page.columns - 9);
  return lines.map((line) =>
    outcome in paint ? paint[outcome as keyof typeof paint](line) : page.palette.yellow(line),
  );
};

/** Lines under a title, moved in; nothing where there are none. */
export const section = (title: string, blocks: readonly (readonly string[])[], page: Page): string[] =>
  blocks.length === 0
    ? []
    : ["", page.palette.bold(title), ...blocks.flatMap((block) => ["", ...indent(block, 2)])];
