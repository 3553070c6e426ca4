import type { Block } from "../../conformance/contract/duet.ts";
import { lookLevels } from "../statistics/early-ending.ts";
import { holm } from "../statistics/holm.ts";
import { smallestDetectable } from "../statistics/power.ts";
import { mean, tEstimate, type TEstimate } from "../statistics/sample.ts";
import { duetMetrics, type DuetResult, type DuetRules, type Member, type MemberVerdict } from "./model.ts";
import { logRatios, pairedLogs, sortedPairs, type PairedLogs } from "./ratios.ts";

const CONFIDENCE = 0.95;

interface Estimated {
  readonly logs: PairedLogs;
  readonly estimate: TEstimate;
}

/**
 * What a duet came to. The block is the sample: each pair gives one ratio, and the t interval of the mean
 * of their logarithms is judged. A member is
 * - regressed (improved) where the change is significant after Holm over all gated members, and where the
 *   interval reaches the floor from which a change matters; so no estimate below half the floor is claimed;
 * - unchanged where the interval stays within the floor on both sides;
 * - inconclusive otherwise: the pairs were too few, or the machine too noisy, to tell.
 */
export const judgeDuet = (blocks: readonly Block[], rules: DuetRules): DuetResult => {
  const { clean, spoilt } = sortedPairs(blocks);
  const used = clean.slice(0, rules.pairs);
  const isUsed = new Set(used);
  const endpoints = new Set(blocks.flatMap(({ pair, endpoint }) => (isUsed.has(pair) ? [endpoint] : [])));
  const estimated = [...endpoints].flatMap((endpoint) =>
    duetMetrics
      .map((metric) => pairedLogs(blocks, used, endpoint, metric))
      // Where a side never answered there is no ratio: what is gated stays, as inconclusive.
      .filter(({ a, metric }) => a.length > 0 || rules.floors[metric] !== undefined)
      .map((logs): Estimated => ({ logs, estimate: tEstimate(logRatios(logs), CONFIDENCE) })),
  );
  const gated = estimated.filter(({ logs }) => rules.floors[logs.metric] !== undefined);
  const pValues = gated.map(({ estimate }) => estimate.p);
  const significant = rejections(pValues, rules, used.length);
  const adjusted = holm(pValues);
  const plan = { alpha: levelAt(rules, used.length, gated.length), power: rules.power };
  const members = estimated.map((one): Member => {
    const place = gated.indexOf(one);
    const shown = shownMember(one);
    if (place < 0) return shown;
    const floor = floorOf(one.logs, rules);
    const least = Math.expm1(smallestDetectable(one.estimate.deviation, one.estimate.count, plan));
    return {
      ...shown,
      floor,
      adjustedP: adjusted[place] ?? 1,
      ...(Number.isFinite(least) ? { smallestDetectable: least } : {}),
      verdict: verdictOf(one, significant[place] === true, Math.log1p(floor)),
    };
  });
  return {
    verdict: overall(members),
    pairs: used.length,
    planned: rules.pairs,
    spoilt,
    endedEarly: used.length < rules.pairs && rules.looks.includes(used.length),
    members,
    rules,
  };
};

/** What all members together come to: the gravest first. A duet that gates nothing is inconclusive. */
const overall = (members: readonly Member[]): MemberVerdict => {
  const given = new Set(members.map(({ verdict }) => verdict));
  const order: readonly MemberVerdict[] = ["regressed", "inconclusive", "improved", "unchanged"];
  return order.find((verdict) => given.has(verdict)) ?? "inconclusive";
};

/**
 * Which members differ significantly: Holm's procedure, whose steps test at the level that the look
 * allows (Maurer and Bretz 2013), so that early looks raise no more false alarms over the family.
 */
const rejections = (pValues: readonly number[], rules: DuetRules, pairs: number): readonly boolean[] => {
  const rejected = pValues.map(() => false);
  const order = pValues.map((p, at) => ({ p, at })).toSorted((x, y) => x.p - y.p);
  for (const [rank, { p, at }] of order.entries()) {
    if (p > levelAt(rules, pairs, pValues.length - rank)) break;
    rejected[at] = true;
  }
  return rejected;
};

const levelAt = (rules: DuetRules, pairs: number, tests: number): number => {
  const shares = [...rules.looks, rules.pairs].map((look) => look / rules.pairs);
  const levels = lookLevels(rules.alpha / Math.max(1, tests), shares);
  // Between looks (a duet that was interrupted) the strictness of the look before holds; before the first, its own.
  const look = [...rules.looks, rules.pairs].findLastIndex((count) => pairs >= count);
  return levels[Math.max(0, look)] ?? rules.alpha;
};

/** As a share of side a: the greater one of the metric's own floor and what the least milliseconds come to. */
const floorOf = ({ metric, a }: PairedLogs, { floors, floorMs }: DuetRules): number => {
  const share = floors[metric] ?? 0;
  return metric === "throughput" || a.length === 0 ? share : Math.max(share, floorMs / geometricMean(a));
};

const verdictOf = ({ logs, estimate }: Estimated, isSignificant: boolean, floor: number): MemberVerdict => {
  if (estimate.low > -floor && estimate.high < floor) return "unchanged";
  if (!isSignificant) return "inconclusive";
  // Less throughput is worse, and so is more latency.
  return estimate.mean > 0 === (logs.metric !== "throughput") ? "regressed" : "improved";
};

const geometricMean = (logs: readonly number[]): number => (logs.length === 0 ? 0 : Math.exp(mean(logs)));

const shownMember = ({ logs, estimate }: Estimated): Member => ({
  endpoint: logs.endpoint,
  metric: logs.metric,
  pairs: estimate.count,
  a: geometricMean(logs.a),
  b: geometricMean(logs.b),
  ratio: Math.exp(estimate.mean),
  ...(estimate.count < 2 ? {} : { interval: [Math.exp(estimate.low), Math.exp(estimate.high)] as const }),
  deviation: estimate.deviation,
});
