import type { RuleResult } from "../../conformance/contract/record.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { elapsed, plural } from "../text/figures.ts";
import { cut, padEnd, padStart, widest } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { groupTitles } from "./titles.ts";
import { wordOf } from "../text/verdicts.ts";
import { inColourOf, symbolOf } from "./verdicts.ts";

/** One line a rule, under the title of its group: symbol, id, verdict, cases, time. */
export const ruleLines = (results: readonly RuleResult[], { palette, columns }: Page): string[] => {
  const rows = results.map((result) => ({
    ...result,
    cases: casesText(result),
    took: elapsed(result.durationMs),
  }));
  const wordWidth = widest(rows.map(({ verdict }) => wordOf(verdict.kind)));
  const casesWidth = widest(rows.map(({ cases }) => cases));
  const tookWidth = widest(rows.map(({ took }) => took));
  const left = columns - wordWidth - casesWidth - tookWidth - 10;
  const idWidth = Math.min(left, widest(rows.map(({ id }) => safe(id))));
  const lineOf = ({ id, verdict, cases, took }: (typeof rows)[number]): string =>
    [
      `  ${symbolOf(verdict.kind, palette)} ${padEnd(cut(safe(id), idWidth), idWidth)}`,
      padEnd(inColourOf(verdict.kind, palette, wordOf(verdict.kind)), wordWidth),
      palette.dim(padStart(cases, casesWidth)),
      palette.dim(padStart(took, tookWidth)),
    ].join("  ");
  return groups.flatMap((group) => {
    const inGroup = rows.filter((row) => row.group === group);
    return inGroup.length === 0 ? [] : ["", palette.bold(groupTitles[group]), ...inGroup.map(lineOf)];
  });
};

const casesText = ({ verdict }: RuleResult): string => {
  const cases = casesOf(verdict);
  return cases === 0 ? "" : plural(cases, "case");
};
