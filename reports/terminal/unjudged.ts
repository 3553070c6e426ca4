import { requirementIds } from "../../conformance/contract/catalogue.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import type { Verdict } from "../../conformance/contract/verdict.ts";
import { plural } from "../text/figures.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { knownRequirement } from "./titles.ts";
import { inColourOf, symbolOf, wordOf } from "./verdicts.ts";

/** Rules that were not judged, together with those that have the same reason. */
interface Cause {
  readonly kind: Verdict["kind"];
  readonly title: string;
  readonly detail: string;
  readonly ids: readonly string[];
}

/** What did not run and why, rules of one cause together; then what was not reached, not asked for, or cannot be tested. */
export const unjudged = (record: RunRecord, page: Page): string[] => {
  const { palette } = page;
  const columns = page.columns;
  const causes = causesOf(record.rules).flatMap(({ kind, title, detail, ids }) => [
    ...wrap(title, columns - 4).map(
      (line, at) => `${at === 0 ? symbolOf(kind, palette) : " "} ${inColourOf(kind, palette, line)}`,
    ),
    ...indent(wrap(detail, columns - 4), 2),
    ...indent(wrap(ids.join(", "), columns - 4).map(palette.dim), 2),
  ]);
  const lines = [
    ...causes,
    ...restOf(record)
      .flatMap((line) => wrap(line, columns - 2))
      .map(palette.dim),
  ];
  return lines.length === 0 ? [] : ["", palette.bold("Not judged"), ...indent(lines, 2)];
};

const causesOf = (results: readonly RuleResult[]): readonly Cause[] => {
  const causes = new Map<string, Cause>();
  for (const { id, verdict } of results) {
    const why = whyOf(verdict);
    if (why === undefined) continue;
    const key = `${verdict.kind}\n${why.title}\n${why.detail}`;
    causes.set(key, { kind: verdict.kind, ...why, ids: [...(causes.get(key)?.ids ?? []), safe(id)] });
  }
  return [...causes.values()];
};

const whyOf = (verdict: Verdict): Pick<Cause, "title" | "detail"> | undefined => {
  const word = wordOf(verdict.kind);
  switch (verdict.kind) {
    case "could-not-run":
      return { title: `${word}: ${safe(verdict.missing)} is missing`, detail: safe(verdict.reason) };
    case "inconclusive":
      return { title: word, detail: `${safe(verdict.reason)}; to settle it: ${safe(verdict.settle)}` };
    case "pending":
      return { title: `${word} until ${safe(verdict.due)}`, detail: safe(verdict.reason) };
    case "not-applicable":
      return { title: `${word}, says the profile`, detail: safe(verdict.reason) };
    case "harness-error":
      return {
        title: `${word}: this is a fault of Touchstone, not of the service`,
        detail: safe(verdict.message),
      };
    default:
      return undefined;
  }
};

const restOf = (record: RunRecord): readonly string[] => {
  const settled = new Set<string>(record.rules.map(({ id }) => id));
  const asked = new Set<string>(record.selected);
  const unreached = record.selected.filter((id) => !settled.has(id)).map(safe);
  const testable = requirementIds.filter((id) => knownRequirement(id)?.level !== "untestable");
  const unasked = testable.filter((id) => !asked.has(id)).length;
  const untestable = requirementIds.length - testable.length;
  return [
    ...(unreached.length === 0 ? [] : [`not reached before the run ended: ${unreached.join(", ")}`]),
    ...(unasked === 0 ? [] : [`${plural(unasked, "rule was", "rules were")} not asked for`]),
    ...(unasked > 0 || untestable === 0
      ? []
      : [
          `${plural(untestable, "statement")} of the document cannot be tested from outside (\`touchstone rules\` says why)`,
        ]),
  ];
};
