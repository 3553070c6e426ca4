import type { RuleResult } from "../../conformance/contract/record.ts";
import { bracketsOf, bracketText, factsOf, factText, otherFactsOf } from "../text/facts.ts";
import { flow, fold, indent, widest, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { schedule } from "./schedule.ts";
import { definitions, grouped } from "./table.ts";
import { knownRequirement } from "./titles.ts";

/** What the rules measured: brackets of lifetimes, readings that the evidence allows, and other figures. */
export const measured = (results: readonly RuleResult[], page: Page): string[] => [
  ...lifetimes(results, page),
  ...titled(
    "Readings that the evidence allows",
    results.flatMap((result) => readings(result, page)),
    page,
  ),
  ...schedules(results, page),
  ...titled("Also measured", otherFacts(results, page), page),
];

/** Lifetimes as the probes bracket them, rule by rule. */
export const lifetimes = (results: readonly RuleResult[], page: Page): string[] =>
  titled(
    "Lifetimes as measured",
    results.flatMap((result) => lifetimesOf(result, page)),
    page,
  );

/** When pushes came, beside when each reading has them. */
export const schedules = (results: readonly RuleResult[], page: Page): string[] =>
  titled(
    "Pushes as measured, beside what each reading expects",
    results.flatMap((result) => schedule(result, page)),
    page,
  );

/** Lines under a title, moved in; nothing where there are none. */
export const titled = (title: string, lines: readonly string[], { palette }: Page): string[] =>
  lines.length === 0 ? [] : ["", palette.bold(title), ...indent(lines, 2)];

const lifetimesOf = (result: RuleResult, page: Page): string[] => {
  const brackets = bracketsOf(result).map(([name, bracket]) => [safe(name), bracketText(bracket)] as const);
  return brackets.length === 0
    ? []
    : [safe(result.id), ...indent(grouped(brackets, page.columns - 4).map(page.palette.dim), 2)];
};

/** The readings that the evidence allows, with what each says; undefined for a rule that has none to tell apart. */
export const readingsOf = (
  result: RuleResult,
): readonly { readonly name: string; readonly sentence: string }[] | undefined => {
  const allowed = factsOf(result)["readings"];
  if (!Array.isArray(allowed)) return undefined;
  const known = knownRequirement(result.id)?.readings ?? {};
  // A record may name a reading that no object has by itself, and every object inherits some names.
  const sentenceOf = (name: string): string => (Object.hasOwn(known, name) ? (known[name] ?? "") : "");
  return allowed.map((name) => ({ name: safe(String(name)), sentence: sentenceOf(String(name)) }));
};

const readings = (result: RuleResult, page: Page): string[] => {
  const allowed = readingsOf(result);
  if (allowed === undefined) return [];
  const columns = page.columns - widest(allowed.map(({ name }) => name)) - 6;
  const lines = definitions(
    allowed.map(({ name, sentence }) => [name, wrap(sentence, columns).map(page.palette.dim)]),
  );
  return [safe(result.id), ...indent(lines.length === 0 ? ["none"] : lines, 2)];
};

const otherFacts = (results: readonly RuleResult[], page: Page): string[] => {
  const entries = results.flatMap((result) => {
    const rest = otherFactsOf(result);
    return rest.length === 0 ? [] : [[safe(result.id), rest] as const];
  });
  const columns = page.columns - widest(entries.map(([id]) => id)) - 4;
  return definitions(
    entries.map(([id, rest]) => [
      id,
      flow(
        rest.flatMap(([name, value]) => fold(factText(name, value), columns, 3)),
        " · ",
        columns,
      ).map(page.palette.dim),
    ]),
  );
};
