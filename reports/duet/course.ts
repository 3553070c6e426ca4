import type { Block } from "../../conformance/contract/duet.ts";
import { judgeDuet } from "./judge.ts";
import type { DuetRules } from "./model.ts";
import { sortedPairs } from "./ratios.ts";

export const duetEnds = [
  "all pairs are there",
  "a regression is certain",
  "too many pairs were spoilt",
] as const;
type DuetEnd = (typeof duetEnds)[number];

/** The maximum number of spoilt pairs that are replaced: half of the planned ones, but at least two. */
export const mostSpoilt = (pairs: number): number => Math.max(2, Math.floor(pairs / 2));

/**
 * Why a duet ends here; undefined while it continues. Each spoilt pair is replaced, up to half of the planned number: a
 * machine that spoils more is unfit for measuring. Ends early only at a planned look, and only if a regression is
 * significant at that look's level (O'Brien and Fleming's boundaries, with alpha spent as by Lan and DeMets), so that
 * ending early raises no false alarms.
 */
export const whyEnded = (blocks: readonly Block[], rules: DuetRules): DuetEnd | undefined => {
  const { clean, spoilt } = sortedPairs(blocks);
  if (clean.length >= rules.pairs) return "all pairs are there";
  if (rules.looks.includes(clean.length) && judgeDuet(blocks, rules).verdict === "regressed")
    return "a regression is certain";
  return spoilt.length > mostSpoilt(rules.pairs) ? "too many pairs were spoilt" : undefined;
};
