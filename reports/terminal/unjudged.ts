import { requirementIds } from "../../conformance/contract/catalogue.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { causesOf } from "../text/causes.ts";
import { plural } from "../text/figures.ts";
import { indent, wrap } from "../text/layout.ts";
import type { Page } from "./palette.ts";
import { knownRequirement } from "./titles.ts";
import { inColourOf, symbolOf } from "./verdicts.ts";

/** What did not run and why, rules of one cause together; then what was not reached, not asked for, or cannot be tested. */
export const unjudged = (record: RunRecord, page: Page): string[] => {
  const { palette } = page;
  const columns = page.columns;
  const cutOff = record.rules.filter(wasCutOff).length;
  const causes = causesOf(record.rules.filter((result) => !wasCutOff(result))).flatMap(
    ({ kind, title, detail, ids }) => [
      ...wrap(title, columns - 4).map(
        (line, at) => `${at === 0 ? symbolOf(kind, palette) : " "} ${inColourOf(kind, palette, line)}`,
      ),
      ...indent(wrap(detail, columns - 4), 2),
      ...indent(wrap(ids.join(", "), columns - 4).map(palette.dim), 2),
    ],
  );
  const lines = [
    ...causes,
    ...restOf(record, cutOff)
      .flatMap((line) => wrap(line, columns - 2))
      .map(palette.dim),
  ];
  return lines.length === 0 ? [] : ["", palette.bold("Not judged"), ...indent(lines, 2)];
};

/** Whether it was the end of the run that left the rule without a verdict: then its reason is everyone's. */
const wasCutOff = ({ verdict }: RuleResult): boolean =>
  verdict.kind === "inconclusive" && verdict.reason === "interrupted";

const restOf = (record: RunRecord, cutOff: number): readonly string[] => {
  const settled = new Set<string>(record.rules.map(({ id }) => id));
  const asked = new Set<string>(record.selected);
  const unreached = record.selected.filter((id) => !settled.has(id)).length + cutOff;
  const testable = requirementIds.filter((id) => knownRequirement(id)?.level !== "untestable");
  const unasked = testable.filter((id) => !asked.has(id)).length;
  const untestable = requirementIds.length - testable.length;
  return [
    ...(unreached === 0
      ? []
      : [`${plural(unreached, "rule was", "rules were")} not judged before the run ended`]),
    ...(unasked === 0 ? [] : [`${plural(unasked, "rule was", "rules were")} not asked for`]),
    ...(unasked > 0 || untestable === 0
      ? []
      : [
          `${plural(untestable, "statement")} of the document cannot be tested from outside (\`touchstone rules\` says why)`,
        ]),
  ];
};
