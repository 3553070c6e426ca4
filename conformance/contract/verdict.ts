import type { BreachLine, VerdictLine } from "./record.ts";
import type { Frozen } from "./schema.ts";

export type Breach = Frozen<typeof BreachLine>;
export type Verdict = Frozen<typeof VerdictLine>;
export type Facts = Readonly<Record<string, unknown>>;

export type VerdictKind = Verdict["kind"];

export type Breached = Extract<Verdict, { readonly breach: Breach }>;

export const isBreach = (verdict: Verdict): verdict is Breached => "breach" in verdict;

export const casesOf = (verdict: Verdict): number => ("cases" in verdict ? verdict.cases : 0);

/** What was missing. A hook that is there and failed is named in its own reason. */
export const lackOf = ({ missing, reason }: Extract<Verdict, { readonly kind: "could-not-run" }>): string =>
  `${missing} ${reason.startsWith(`${missing}: `) ? "failed" : "is missing"}`;

export const reasonOf = (verdict: Verdict): string => {
  if ("reason" in verdict) return verdict.reason;
  return "message" in verdict ? verdict.message : "";
};

/** Why a verdict leaves its rule open, and what would decide it. */
export const whyOpen = (verdict: Verdict): string => {
  const reason = reasonOf(verdict);
  if ("missing" in verdict) return `${reason}; ${lackOf(verdict)}`;
  if ("settle" in verdict) return `${reason}; needed: ${verdict.settle}`;
  return "due" in verdict ? `${reason}; due ${verdict.due}` : reason;
};

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
