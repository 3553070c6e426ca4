import { duration } from "../../conformance/contract/duration.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Facts } from "../../conformance/contract/verdict.ts";
import { compact, words } from "../text/compact.ts";
import { flow, fold, indent, widest, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { schedule } from "./schedule.ts";
import { definitions, grouped } from "./table.ts";
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
const elsewhere = new Set(["readings", "broken", "brokenCases", "schedule", "anchors"]);

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
  ...titled(
    "Pushes as measured, beside what each reading expects",
    results.flatMap((result) => schedule(result, page)),
    page,
  ),
  ...titled("Also measured", otherFacts(results, page), page),
];

const titled = (title: string, lines: readonly string[], { palette }: Page): string[] =>
  lines.length === 0 ? [] : ["", palette.bold(title), ...indent(lines, 2)];

const lifetimes = (result: RuleResult, page: Page): string[] => {
  const brackets = Object.entries(factsOf(result)).flatMap(([name, value]) =>
    isBracket(value) ? [[safe(name), bracketText(value)] as const] : [],
  );
  return brackets.length === 0
    ? []
    : [safe(result.id), ...indent(grouped(brackets, page.columns - 4).map(page.palette.dim), 2)];
};

/** A side that was not probed is not spoken of; one that was probed in vain is. */
const bracketText = ({ lifetimeMs, acceptedUpToMs, refusedFromMs }: Bracket): string => {
  const sides = [
    ...(acceptedUpToMs === undefined ? [] : [acceptedText(acceptedUpToMs)]),
    ...(refusedFromMs === undefined ? [] : [refusedText(refusedFromMs)]),
  ];
  return `${duration(lifetimeMs)} promised, ${sides.join(", ") || "nothing measured"}`;
};

const acceptedText = (ageMs: unknown): string =>
  typeof ageMs === "number" && ageMs > 0 ? `accepted up to ${duration(ageMs)}` : "never accepted";

/** An infinite age is null in JSON. */
const refusedText = (ageMs: unknown): string =>
  typeof ageMs === "number" && Number.isFinite(ageMs) ? `refused from ${duration(ageMs)}` : "never refused";

const readings = (result: RuleResult, page: Page): string[] => {
  const allowed = factsOf(result)["readings"];
  if (!Array.isArray(allowed)) return [];
  const known = knownRequirement(result.id)?.readings ?? {};
  // A record may name a reading that no object has by itself, and every object inherits some names.
  const sentenceOf = (name: string): string => (Object.hasOwn(known, name) ? (known[name] ?? "") : "");
  const names = allowed.map((name) => safe(String(name)));
  const columns = page.columns - widest(names) - 6;
  return [
    safe(result.id),
    ...indent(
      names.length === 0
        ? ["none"]
        : definitions(names.map((name) => [name, wrap(sentenceOf(name), columns).map(page.palette.dim)])),
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
