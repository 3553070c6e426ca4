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

/** So many spoilt pairs are replaced: half of the planned ones, and two where that is fewer. */
export const mostSpoilt = (pairs: number): number => Math.max(2, Math.floor(pairs / 2));

/**
 * Why a duet ends here; undefined while it goes on. Each spoilt pair is replaced by another, but no more of them
 * than half of the planned ones: a machine that spoils more cannot be measured on. It ends early only at a
 * planned look, and only where a regression is significant at the level that the look allows (O'Brien and Fleming's
 * boundaries as spent by Lan and DeMets), so that early endings raise no false alarms.
 */
export const whyEnded = (blocks: readonly Block[], rules: DuetRules): DuetEnd | undefined => {
  const { clean, spoilt } = sortedPairs(blocks);
  if (clean.length >= rules.pairs) return "all pairs are there";
  if (rules.looks.includes(clean.length) && judgeDuet(blocks, rules).verdict === "regressed")
    return "a regression is certain";
  return spoilt.length > mostSpoilt(rules.pairs) ? "too many pairs were spoilt" : undefined;
};
