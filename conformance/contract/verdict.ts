import type { BreachLine, VerdictLine } from "./record.ts";
import type { Frozen } from "./schema.ts";

export type Breach = Frozen<typeof BreachLine>;
export type Verdict = Frozen<typeof VerdictLine>;
export type Facts = Readonly<Record<string, unknown>>;

export type VerdictKind = Verdict["kind"];

export type Breached = Extract<Verdict, { readonly breach: Breach }>;

export const isBreach = (verdict: Verdict): verdict is Breached => "breach" in verdict;

export const casesOf = (verdict: Verdict): number => ("cases" in verdict ? verdict.cases : 0);

/** JSON with sorted keys: equal facts give equal bytes. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sortKeys(value)) ?? "null";

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
};
