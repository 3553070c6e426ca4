import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Verdict } from "../../conformance/contract/verdict.ts";
import { wordOf } from "./verdicts.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

/** Rules that were not judged for the same reason. */
export interface Cause {
  readonly kind: Verdict["kind"];
  readonly title: string;
  readonly detail: string;
  readonly ids: readonly string[];
}

/** A text without what varies between exchanges: times, and numbers of masked values; not statuses. */
export const skeleton = (text: string): string => text.replaceAll(/(?<!\bstatus \d{0,2})\d+/g, "#");

/** The count of cases of one rule, which says nothing about several rules. */
export const count = /^\d+ of \d+ cases could not be decided: /;

/** Why rules were not judged, grouped by cause. Controls that failed with similar answers are one cause. */
export const causesOf = (results: readonly RuleResult[]): readonly Cause[] => {
  const causes = new Map<string, Cause>();
  for (const { id, verdict } of results) {
    const { kind } = verdict;
    const title = titleOf(verdict);
    if (title === undefined) continue;
    const detail = kind === "inconclusive" ? whyOpen(verdict) : reasonOf(verdict);
    const key = `${kind}\n${title}\n${kind === "inconclusive" ? skeleton(detail.replace(count, "")) : detail}`;
    const before = causes.get(key);
    causes.set(
      key,
      before === undefined
        ? { kind, title, detail, ids: [harmless(id)] }
        : { ...before, detail: before.detail.replace(count, ""), ids: [...before.ids, harmless(id)] },
    );
  }
  return [...causes.values()];
};

const titleOf = (verdict: Verdict): string | undefined => {
  const word = wordOf(verdict.kind);
  switch (verdict.kind) {
    case "could-not-run":
      return `${word}: ${lackOf(verdict)}`;
    case "inconclusive":
      return word;
    case "pending":
      return `${word} until ${harmless(verdict.due)} by the target's clock`;
    case "not-applicable":
      return verdict.by === "profile" ? `${word}, as stated by the profile` : `${word} to this service`;
    case "harness-error":
      return `${word}: this is a fault of Touchstone, not of the service`;
    default:
      return undefined;
  }
};

/** What was missing. A hook that is there and failed is named in its own reason. */
const lackOf = ({ missing, reason }: Extract<Verdict, { readonly kind: "could-not-run" }>): string =>
  `${harmless(missing)} ${reason.startsWith(`${missing}: `) ? "failed" : "is missing"}`;

const reasonOf = (verdict: Verdict): string => {
  if ("reason" in verdict) return harmless(verdict.reason);
  return "message" in verdict ? harmless(verdict.message) : "";
};

/** Why a verdict leaves its rule open, and what would decide it. */
export const whyOpen = (verdict: Verdict): string => {
  const reason = reasonOf(verdict);
  if ("missing" in verdict) return `${reason}; ${lackOf(verdict)}`;
  if ("settle" in verdict) return `${reason}; to resolve: ${harmless(verdict.settle)}`;
  return "due" in verdict ? `${reason}; due ${harmless(verdict.due)}` : reason;
};
