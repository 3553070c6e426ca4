import type { Block } from "../../conformance/contract/duet.ts";
import type { DuetMetric } from "./model.ts";

export interface PairedLogs {
  readonly endpoint: string;
  readonly metric: DuetMetric;
  readonly a: readonly number[];
  readonly b: readonly number[];
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

/** The metric of each pair in which both sides measured it; a value of 0 has no ratio. */
export const pairedLogs = (
  blocks: readonly Block[],
  pairs: readonly number[],
  endpoint: string,
  metric: DuetMetric,
): PairedLogs => {
  const values = new Map<string, number>();
  for (const block of blocks)
    if (block.endpoint === endpoint) values.set(`${block.pair} ${block.side}`, valueOf(block, metric));
  const both = pairs
    .map((pair) => [values.get(`${pair} a`) ?? 0, values.get(`${pair} b`) ?? 0] as const)
    .filter(([a, b]) => a > 0 && b > 0);
  return {
    endpoint,
    metric,
    a: both.map(([a]) => Math.log(a)),
    b: both.map(([, b]) => Math.log(b)),
  };
};

export const valueOf = (block: Block, metric: DuetMetric): number =>
  metric === "throughput" ? block.throughput : block[`${metric}Ms`];

export const logRatios = ({ a, b }: PairedLogs): readonly number[] =>
  b.map((value, at) => value - (a[at] ?? value));
