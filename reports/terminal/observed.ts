import type { RuleResult } from "../../conformance/contract/record.ts";
import { compact, compactFields } from "../text/compact.ts";
import { fold, indent, padEnd, widest, width } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { grouped } from "./table.ts";

const LINES = 12;
const MARGIN = 2;

/** What the service does where the document leaves it open; a pinned fingerprint that changed stands with the one seen. */
export const observed = (
  results: readonly RuleResult[],
  page: Page,
  pinned: Readonly<Record<string, string>>,
): string[] => {
  const seen = results.flatMap(({ id, verdict }) =>
    verdict.kind === "observed"
      ? [{ id: safe(id), now: verdict.fingerprint, was: ownValue(pinned, id) }]
      : [],
  );
  if (seen.length === 0) return [];
  const idWidth = widest(seen.map(({ id }) => id));
  const lines = seen.flatMap((one) => observation(one, idWidth, page));
  return ["", page.palette.bold("Observed where the document leaves it open"), ...indent(lines, MARGIN)];
};

const observation = (
  { id, now, was }: { readonly id: string; readonly now: string; readonly was: string | undefined },
  idWidth: number,
  { palette, columns }: Page,
): string[] => {
  const drifted = was !== undefined && was !== now;
  const name = (drifted ? palette.red : (text: string) => text)(id);
  const whole = compactFields(parse(now));
  const fits = MARGIN + idWidth + 2 + width(whole) <= columns;
  const below = columns - MARGIN - 2;
  return [
    ...(fits
      ? [`${padEnd(name, idWidth)}  ${palette.dim(whole)}`]
      : [name, ...indent(readable(now, below).map(palette.dim), 2)]),
    ...(drifted
      ? indent(["the profile pins", ...indent(readable(was, below - 2), 2)].map(palette.red), 2)
      : []),
  ];
};

const ownValue = (values: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;

/** A fingerprint in few lines: what is the same for several of its fields is said once, with their names. */
const readable = (fingerprint: string, columns: number): string[] => {
  const value = parse(fingerprint);
  const whole = compactFields(value);
  if (width(whole) <= columns || typeof value !== "object" || value === null || Array.isArray(value))
    return fold(whole, columns, LINES);
  const lines = grouped(leavesOf(value), columns);
  return lines.length <= LINES
    ? lines
    : [...lines.slice(0, LINES - 1), `… ${lines.length - LINES + 1} more lines in run.json`];
};

/** The fields of an object with their values as text; objects that hold objects give the fields of those. */
const leavesOf = (value: object, path = ""): (readonly [name: string, leaf: string])[] =>
  Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = `${path}${safe(key)}`;
    return isObject(inner) && Object.values(inner).some(isObject)
      ? leavesOf(inner, `${name}, `)
      : [[name, isObject(inner) ? compactFields(inner) : compact(inner)] as const];
  });

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parse = (fingerprint: string): unknown => {
  try {
    return JSON.parse(fingerprint);
  } catch {
    return fingerprint;
  }
};
