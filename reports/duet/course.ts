import type { Block } from "../../conformance/contract/duet.ts";
import { judgeDuet } from "./judge.ts";
import type { DuetRules } from "./model.ts";
import { sortedPairs } from "./ratios.ts";

export const duetEnds = [
  "all pairs are there",
  "a regression is certain",
  "too many pairs were spoilt",
] as const;
export type DuetEnd = (typeof duetEnds)[number];

type DuetStep =
  | { readonly next: "pair"; readonly clean: number; readonly spoilt: number }
  | { readonly next: "end"; readonly why: DuetEnd };

/** So many spoilt pairs are replaced: half of the planned ones, and two where that is fewer. */
export const mostSpoilt = (pairs: number): number => Math.max(2, Math.floor(pairs / 2));

/**
 * Goes on until all pairs are there, each spoilt one replaced by another, but no more of them than half of
 * the planned ones: a machine that spoils more cannot be measured on. It ends early only at a planned look,
 * and only where a regression is significant at the level that the look allows (O'Brien and Fleming's
 * boundaries as spent by Lan and DeMets), so that early endings raise no false alarms.
 */
export const nextStep = (blocks: readonly Block[], rules: DuetRules): DuetStep => {
  const { clean, spoilt } = sortedPairs(blocks);
  if (clean.length >= rules.pairs) return { next: "end", why: "all pairs are there" };
  if (rules.looks.includes(clean.length) && judgeDuet(blocks, rules).verdict === "regressed")
    return { next: "end", why: "a regression is certain" };
  if (spoilt.length > mostSpoilt(rules.pairs)) return { next: "end", why: "too many pairs were spoilt" };
  return { next: "pair", clean: clean.length, spoilt: spoilt.length };
};
