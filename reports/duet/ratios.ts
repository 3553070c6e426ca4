import type { Block } from "../../conformance/contract/duet.ts";
import type { DuetMetric } from "./model.ts";

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
