import type { Block } from "../../conformance/contract/duet.ts";
import {
  holm,
  mean,
  tEstimate,
  type TEstimate,
  smallestDetectable,
  type TestPlan,
} from "../statistics/sample.ts";
import {
  duetMetrics,
  tail,
  type DuetEnd,
  type DuetResult,
  type DuetRules,
  type Failures,
  type Member,
  type MemberVerdict,
  type DuetMetric,
} from "./document.ts";

const CONFIDENCE = 0.95;

interface Estimated {
  readonly values: PairedValues;
  readonly estimate: TEstimate;
}

/**
 * The result of a duet. Each pair of blocks gives one ratio; the t interval of the mean of their logarithms
 * is judged. A member is
 * - regressed (improved) if the change is significant after Holm over all gated members and the interval
 * reaches the smallest change that matters (the floor), so that the estimate is at least half of that;
 * - unchanged if the interval stays within the floor on both sides;
 * - inconclusive otherwise: there were too few pairs, or the machine was too noisy.
 *
 * A p99 that is inconclusive is shown without a verdict. The shares of failed requests are judged alike, by their
 * difference: percentiles are of granted requests alone, so that a side that fails is not slower.
 */
export const judgeDuet = (blocks: readonly Block[], rules: DuetRules): DuetResult => {
  const { clean, spoilt } = sortedPairs(blocks);
  const used = clean.slice(0, rules.pairs);
  const isUsed = new Set(used);
  const endpoints = new Set(blocks.flatMap(({ pair, endpoint }) => (isUsed.has(pair) ? [endpoint] : [])));
  const estimated = [...endpoints].flatMap((endpoint) =>
    duetMetrics
      .map((metric) => pairedValues(blocks, used, endpoint, metric))
      // A side that never answered has no ratio: a gated member stays, as inconclusive.
      .filter(
        ({ pairs, metric }) => pairs.length > 0 || (rules.floors[metric] !== undefined && metric !== tail),
      )
      .map((values): Estimated => ({ values, estimate: tEstimate(logRatios(values), CONFIDENCE) })),
  );
  const gated = estimated.filter(({ values }) => rules.floors[values.metric] !== undefined);
  const failed = pairedFailures(blocks, used);
  const pValues = [...gated.map(({ estimate }) => estimate.p), ...(failed ? [failed.estimate.p] : [])];
  const adjusted = holm(pValues);
  const plan = { alpha: rules.alpha / Math.max(1, pValues.length), power: rules.power };
  const members = estimated.map((one): Member => {
    const place = gated.indexOf(one);
    const shown = shownMember(one);
    if (place < 0) return shown;
    const floor = floorOf(one.values, rules);
    const verdict = verdictOf(
      one.estimate,
      (adjusted[place] ?? 1) <= rules.alpha,
      Math.log1p(floor),
      one.values.metric === "throughput" ? "more is better" : "less is better",
    );
    if (one.values.metric === tail && verdict === "inconclusive") return shown;
    const least = Math.expm1(smallestDetectable(one.estimate.deviation, one.estimate.count, plan));
    return {
      ...shown,
      floor,
      adjustedP: adjusted[place] ?? 1,
      ...(Number.isFinite(least) ? { smallestDetectable: least } : {}),
      verdict,
    };
  });
  const failures = failed && judgedFailures(failed, plan, adjusted.at(-1) ?? 1, rules.alpha);
  const verdict = overall([...members, ...(failures ? [failures] : [])]);
  return {
    verdict,
    pairs: used.length,
    planned: rules.pairs,
    spoilt,
    members,
    ...(failures && { failures }),
    rules,
  };
};

/**
 * The shares of all requests of a side that failed, whatever their endpoint, in each pair. Undefined if the blocks do
 * not say how many requests they made.
 */
const pairedFailures = (blocks: readonly Block[], pairs: readonly number[]) => {
  const shares = pairs.flatMap((pair) => {
    const [a, b] = (["a", "b"] as const).map((side) =>
      failedShare(blocks.filter((block) => block.pair === pair && block.side === side)),
    );
    return a === undefined || b === undefined ? [] : [{ a, b }];
  });
  if (shares.length === 0) return undefined;
  const differences = shares.map(({ a, b }) => b - a);
  return {
    a: mean(shares.map(({ a }) => a)),
    b: mean(shares.map(({ b }) => b)),
    estimate: tEstimate(differences, CONFIDENCE),
  };
};

const failedShare = (endpoints: readonly Block[]): number | undefined => {
  const sum = (of: "requests" | "failed"): number =>
    endpoints.reduce((all, block) => all + (block[of] ?? 0), 0);
  const requests = sum("requests");
  return requests === 0 ? undefined : sum("failed") / requests;
};

/** A change of the share of failed requests below this does not matter. */
const LEAST_SHARE = 0.001;

const judgedFailures = (
  { a, b, estimate }: NonNullable<ReturnType<typeof pairedFailures>>,
  plan: TestPlan,
  adjustedP: number,
  alpha: number,
): Failures => {
  const { low, high, deviation, count } = estimate;
  const least = smallestDetectable(deviation, count, plan);
  return {
    a,
    b,
    ...(count < 2 ? {} : { interval: [low, high] as const }),
    adjustedP,
    floor: LEAST_SHARE,
    ...(Number.isFinite(least) ? { smallestDetectable: least } : {}),
    verdict: verdictOf(estimate, adjustedP <= alpha, LEAST_SHARE, "less is better"),
  };
};

/** The worst verdict of all members. A duet that gates nothing is inconclusive. */
const overall = (members: readonly Pick<Member, "verdict">[]): MemberVerdict => {
  const given = new Set(members.map(({ verdict }) => verdict));
  const order: readonly MemberVerdict[] = ["regressed", "inconclusive", "improved", "unchanged"];
  return order.find((verdict) => given.has(verdict)) ?? "inconclusive";
};

/** The floor as a share of side a: the metric's own floor, or the minimum in milliseconds if that is greater. */
const floorOf = (values: PairedValues, { floors, floorMs }: DuetRules): number => {
  const { metric, pairs } = values;
  const share = floors[metric] ?? 0;
  return metric === "throughput" || pairs.length === 0
    ? share
    : Math.max(share, floorMs / geometricMean(values, "a"));
};

const verdictOf = (
  { low, high, mean: change }: TEstimate,
  isSignificant: boolean,
  floor: number,
  sense: "more is better" | "less is better",
): MemberVerdict => {
  if (low > -floor && high < floor) return "unchanged";
  if (!isSignificant) return "inconclusive";
  return change > 0 === (sense === "less is better") ? "regressed" : "improved";
};

const geometricMean = ({ pairs }: PairedValues, side: "a" | "b"): number =>
  pairs.length === 0 ? 0 : Math.exp(mean(pairs.map((pair) => Math.log(pair[side]))));

const shownMember = ({ values, estimate }: Estimated): Member => ({
  endpoint: values.endpoint,
  metric: values.metric,
  pairs: estimate.count,
  a: geometricMean(values, "a"),
  b: geometricMean(values, "b"),
  ratio: Math.exp(estimate.mean),
  ...(estimate.count < 2 ? {} : { interval: [Math.exp(estimate.low), Math.exp(estimate.high)] as const }),
  deviation: estimate.deviation,
});

/** The maximum number of spoilt pairs that are replaced: half of the planned ones, but at least two. */
export const mostSpoilt = (pairs: number): number => Math.max(2, Math.floor(pairs / 2));

/**
 * Why a duet ends here; undefined while it continues. Each spoilt pair is replaced, up to half of the planned number: a
 * machine that spoils more is unfit for measuring.
 */
export const whyEnded = (
  blocks: readonly Block[],
  { pairs }: Pick<DuetRules, "pairs">,
): DuetEnd | undefined => {
  const { clean, spoilt } = sortedPairs(blocks);
  if (clean.length >= pairs) return "all pairs are there";
  return spoilt.length > mostSpoilt(pairs) ? "too many pairs were spoilt" : undefined;
};

/** One metric of one endpoint in each pair in which both sides measured it. */
export interface PairedValues {
  readonly endpoint: string;
  readonly metric: DuetMetric;
  readonly pairs: readonly { readonly pair: number; readonly a: number; readonly b: number }[];
}

/** Numbers of the clean pairs (neither block spoilt, both sides present) and of the spoilt ones. */
export const sortedPairs = (
  blocks: readonly Block[],
): {
  readonly clean: readonly number[];
  readonly spoilt: readonly { readonly pair: number; readonly reasons: readonly string[] }[];
} => {
  const byPair = [...Map.groupBy(blocks, ({ pair }) => pair)].toSorted(([x], [y]) => x - y);
  const spoilt = byPair.flatMap(([pair, members]) => {
    const reasons = new Set(
      members.flatMap(({ side, spoilt }) => (spoilt === undefined ? [] : [`${side}: ${spoilt}`])),
    );
    return reasons.size === 0 ? [] : [{ pair, reasons: [...reasons] }];
  });
  const isSpoilt = new Set(spoilt.map(({ pair }) => pair));
  const clean = byPair
    .filter(([pair, members]) => !isSpoilt.has(pair) && new Set(members.map(({ side }) => side)).size === 2)
    .map(([pair]) => pair);
  return { clean, spoilt };
};

/** A value of 0 has no ratio: its pair is left out. */
export const pairedValues = (
  blocks: readonly Block[],
  pairs: readonly number[],
  endpoint: string,
  metric: DuetMetric,
): PairedValues => {
  const values = new Map<string, number>();
  for (const block of blocks)
    if (block.endpoint === endpoint) values.set(`${block.pair} ${block.side}`, valueOf(block, metric));
  const both = pairs.map((pair) => ({
    pair,
    a: values.get(`${pair} a`) ?? 0,
    b: values.get(`${pair} b`) ?? 0,
  }));
  return { endpoint, metric, pairs: both.filter(({ a, b }) => a > 0 && b > 0) };
};

const valueOf = (block: Block, metric: DuetMetric): number =>
  metric === "throughput" ? block.throughput : block[`${metric}Ms`];

export const logRatios = ({ pairs }: PairedValues): readonly number[] =>
  pairs.map(({ a, b }) => Math.log(b) - Math.log(a));
