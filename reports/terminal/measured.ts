import { duration } from "../../conformance/contract/duration.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Facts } from "../../conformance/contract/verdict.ts";
import { compact, words } from "../text/compact.ts";
import { flow, fold, indent, widest, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { definitions } from "./table.ts";
import { knownRequirement } from "./titles.ts";

interface Bracket {
  readonly lifetimeMs: number;
  readonly acceptedUpToMs?: unknown;
  readonly refusedFromMs?: unknown;
}

const isBracket = (value: unknown): value is Bracket =>
  typeof value === "object" &&
  value !== null &&
  "lifetimeMs" in value &&
  typeof value.lifetimeMs === "number";

const factsOf = ({ verdict }: RuleResult): Facts => ("facts" in verdict ? (verdict.facts ?? {}) : {});

/** Shown elsewhere: readings and inputs in sections of their own. */
const elsewhere = new Set(["readings", "broken", "brokenCases"]);

/** What the rules measured: brackets of lifetimes, readings that the evidence allows, and other figures. */
export const measured = (results: readonly RuleResult[], page: Page): string[] => [
  ...titled(
    "Lifetimes as measured",
    results.flatMap((result) => lifetimes(result, page)),
    page,
  ),
  ...titled(
    "Readings that the evidence allows",
    results.flatMap((result) => readings(result, page)),
    page,
  ),
  ...titled("Also measured", otherFacts(results, page), page),
];

const titled = (title: string, lines: readonly string[], { palette }: Page): string[] =>
  lines.length === 0 ? [] : ["", palette.bold(title), ...indent(lines, 2)];

const lifetimes = (result: RuleResult, page: Page): string[] => {
  const brackets = Object.entries(factsOf(result)).flatMap(([name, value]) =>
    isBracket(value) ? [[safe(name), value] as const] : [],
  );
  const nameWidth = widest(brackets.map(([name]) => name));
  const columns = page.columns - nameWidth - 6;
  if (brackets.length === 0) return [];
  return [
    safe(result.id),
    ...indent(
      definitions(
        brackets.map(([name, bracket]) => [page.palette.dim(name), wrap(bracketText(bracket), columns)]),
      ),
      2,
    ),
  ];
};

const bracketText = ({ lifetimeMs, acceptedUpToMs, refusedFromMs }: Bracket): string => {
  const accepted = typeof acceptedUpToMs === "number" && acceptedUpToMs > 0;
  return [
    `${duration(lifetimeMs)}:`,
    accepted ? `accepted up to ${duration(acceptedUpToMs)},` : "not seen accepted,",
    typeof refusedFromMs === "number" ? `refused from ${duration(refusedFromMs)}` : "not seen refused",
  ].join(" ");
};

const readings = (result: RuleResult, page: Page): string[] => {
  const allowed = factsOf(result)["readings"];
  if (!Array.isArray(allowed)) return [];
  const known = knownRequirement(result.id)?.readings ?? {};
  const names = allowed.map((name) => safe(String(name)));
  const columns = page.columns - widest(names) - 6;
  return [
    safe(result.id),
    ...indent(
      names.length === 0
        ? ["none"]
        : definitions(names.map((name) => [name, wrap(known[name] ?? "", columns).map(page.palette.dim)])),
      2,
    ),
  ];
};

const otherFacts = (results: readonly RuleResult[], page: Page): string[] => {
  const entries = results.flatMap((result) => {
    const rest = Object.entries(factsOf(result)).filter(
      ([name, value]) => !elsewhere.has(name) && !isBracket(value),
    );
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

const factText = (name: string, value: unknown): string => {
  if (value === true) return safe(words(name));
  return `${safe(words(name))} ${name.endsWith("Ms") && typeof value === "number" ? duration(value) : compact(value)}`;
};
