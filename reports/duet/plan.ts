import type { Block } from "../../conformance/contract/duet.ts";
import { chiSquareQuantile } from "../statistics/distributions.ts";
import { countFor } from "../statistics/power.ts";
import { deviation } from "../statistics/sample.ts";
import { duetMetrics, tail, type DuetPlan, type DuetRules } from "./model.ts";
import { logRatios, pairedValues, sortedPairs } from "./ratios.ts";

/**
 * A pilot's deviation is itself an estimate; planning with its upper limit at this confidence reaches the power this
 * often (Browne 1995).
 */
const PILOT_CONFIDENCE = 0.8;

/**
 * The number of pairs that detect a change of this share, planned from a pilot; undefined if it has fewer than three
 * clean pairs.
 */
export const planFor = (
  effect: number,
  pilot: readonly Block[],
  rules: Omit<DuetRules, "pairs">,
): DuetPlan | undefined => {
  const { clean } = sortedPairs(pilot);
  if (clean.length < 3) return undefined;
  const gated = duetMetrics.filter((metric) => rules.floors[metric] !== undefined);
  const family = [...new Set(pilot.map(({ endpoint }) => endpoint))]
    .flatMap((endpoint) => gated.map((metric) => pairedValues(pilot, clean, endpoint, metric)))
    .filter(({ pairs }) => pairs.length >= 3);
  // Failed requests are one more test of a duet whose blocks count them.
  const tests = family.length + (pilot.some(({ requests }) => requests !== undefined) ? 1 : 0);
  // A tail is judged where it can tell; to plan for it would take many times the pairs.
  const planned = family.filter(({ metric }) => metric !== tail);
  const members = planned.map((one) => {
    const spread = deviation(logRatios(one));
    const freedom = one.pairs.length - 1;
    const limit = spread * Math.sqrt(freedom / chiSquareQuantile(1 - PILOT_CONFIDENCE, freedom));
    const plan = { alpha: rules.alpha / tests, power: rules.power };
    return {
      endpoint: one.endpoint,
      metric: one.metric,
      deviation: spread,
      deviationLimit: limit,
      pairs: countFor(Math.log1p(effect), limit, plan),
    };
  });
  return {
    effect,
    pairs: Math.max(2, ...members.map(({ pairs }) => pairs)),
    pilotPairs: clean.length,
    members,
  };
};
