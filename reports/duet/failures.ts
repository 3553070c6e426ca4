import type { Block } from "../../conformance/contract/duet.ts";
import { mean, tEstimate, type TEstimate } from "../statistics/sample.ts";

/** A change of the share of failed requests below this does not matter. */
export const leastShare = 0.001;

export interface PairedFailures {
  /** Shares of all requests of a side, whatever their endpoint: means over the pairs. */
  readonly a: number;
  readonly b: number;
  /** Side b's share less side a's, pair by pair. */
  readonly estimate: TEstimate;
}

/** Undefined if the blocks do not say how many requests they made. */
export const pairedFailures = (
  blocks: readonly Block[],
  pairs: readonly number[],
  confidence: number,
): PairedFailures | undefined => {
  const shares = pairs.flatMap((pair) => {
    const [a, b] = (["a", "b"] as const).map((side) =>
      failedShare(blocks.filter((block) => block.pair === pair && block.side === side)),
    );
    return a === undefined || b === undefined ? [] : [{ a, b }];
  });
  if (shares.length === 0) return undefined;
  return {
    a: mean(shares.map(({ a }) => a)),
    b: mean(shares.map(({ b }) => b)),
    estimate: tEstimate(
      shares.map(({ a, b }) => b - a),
      confidence,
    ),
  };
};

const failedShare = (endpoints: readonly Block[]): number | undefined => {
  const sum = (of: (block: Block) => number | undefined): number =>
    endpoints.reduce((all, block) => all + (of(block) ?? 0), 0);
  const requests = sum((block) => block.requests);
  return requests === 0 ? undefined : sum((block) => block.failed) / requests;
};
