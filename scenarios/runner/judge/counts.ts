import { Int32Histogram } from "hdr-histogram-js";
import { histogramUnit } from "../../../conformance/contract/load-record.ts";

/** A distribution in little memory: indices of a histogram's cells, ascending, each followed by its count. */
export type SparseCounts = Int32Array;

/** An empty histogram of microseconds, as the contract has them. */
export const latencyHistogram = (): Int32Histogram =>
  new Int32Histogram(1, histogramUnit.highest, histogramUnit.significantDigits);

const shape = latencyHistogram();

/** The highest value of a cell, in milliseconds. */
const valueOf = (cell: number): number =>
  shape.highestEquivalentValue(shape.valueFromIndex(cell)) / histogramUnit.perMs;

export const sparseCounts = (histogram: Int32Histogram): SparseCounts => {
  const pairs: number[] = [];
  const last = histogram.countsArrayIndex(histogram.maxValue);
  for (let index = 0; index <= last; index += 1) {
    const count = histogram.getCountAtIndex(index);
    if (count > 0) pairs.push(index, count);
  }
  return Int32Array.from(pairs);
};

export const mergeCounts = (a: SparseCounts, b: SparseCounts): SparseCounts => {
  const merged = new Int32Array(a.length + b.length);
  let [atA, atB, length] = [0, 0, 0];
  while (atA < a.length || atB < b.length) {
    const [inA, inB] = [a[atA] ?? Infinity, b[atB] ?? Infinity];
    merged[length] = Math.min(inA, inB);
    merged[length + 1] = (inA <= inB ? (a[atA + 1] ?? 0) : 0) + (inB <= inA ? (b[atB + 1] ?? 0) : 0);
    if (inA <= inB) atA += 2;
    if (inB <= inA) atB += 2;
    length += 2;
  }
  return merged.slice(0, length);
};

export const mergeAll = (parts: readonly SparseCounts[]): SparseCounts =>
  parts.reduce(mergeCounts, new Int32Array());

export const countOf = (counts: SparseCounts): number => {
  let sum = 0;
  for (let at = 1; at < counts.length; at += 2) sum += counts[at] ?? 0;
  return sum;
};

const rankOf = (share: number, of: number): number => Math.max(1, Math.ceil(share * of));

/** The smallest value, in milliseconds, that at least this share of all values does not exceed; undefined where there are none. */
export const quantileOf = (counts: SparseCounts, share: number): number | undefined => {
  const rank = rankOf(share, countOf(counts));
  let reached = 0;
  for (let at = 0; at < counts.length; at += 2) {
    reached += counts[at + 1] ?? 0;
    if (reached >= rank) return valueOf(counts[at] ?? 0);
  }
  return undefined;
};

const RESAMPLES = 200;
const MOST_BLOCKS = 60;
const LEAST_BLOCKS = 5;

/**
 * A 95 % interval of a quantile by the bootstrap over blocks of time (Künsch 1989, with blocks that
 * do not overlap): requests of one second share their fate, so seconds are drawn, never requests.
 * Undefined where there are too few blocks for an interval to mean anything.
 */
export const quantileInterval = (
  seconds: readonly SparseCounts[],
  share: number,
  random: () => number,
): readonly [number, number] | undefined => {
  const blocks = blocksOf(seconds.filter(({ length }) => length > 0));
  if (blocks.length < LEAST_BLOCKS) return undefined;
  const cells = mergeAll(blocks).filter((_, at) => at % 2 === 0);
  const reached = blocks.map((block) => countsUpTo(cells, block));
  const drawn = Array.from({ length: RESAMPLES }, () =>
    quantileIn(
      cells,
      blocks.map(() => reached[Math.floor(random() * blocks.length)] ?? new Float64Array()),
      share,
    ),
  ).toSorted((a, b) => a - b);
  const at = (part: number): number =>
    drawn[Math.min(drawn.length - 1, Math.floor(part * drawn.length))] ?? 0;
  return [at(0.025), at(0.975)];
};

/** For each of these cells, how many of a block's values do not exceed it. */
const countsUpTo = (cells: Int32Array, block: SparseCounts): Float64Array => {
  let [at, reached] = [0, 0];
  return Float64Array.from(cells, (cell) => {
    if (block[at] === cell) {
      reached += block[at + 1] ?? 0;
      at += 2;
    }
    return reached;
  });
};

/** As quantileOf says of the blocks together, without adding them up again for each draw. */
const quantileIn = (cells: Int32Array, blocks: readonly Float64Array[], share: number): number => {
  const upTo = (at: number): number => blocks.reduce((sum, block) => sum + (block[at] ?? 0), 0);
  const rank = rankOf(share, upTo(cells.length - 1));
  let [low, high] = [0, cells.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (upTo(middle) < rank) low = middle + 1;
    else high = middle;
  }
  return valueOf(cells[low] ?? 0);
};

/** Neighbouring seconds together, so that a long run costs no more than a short one. */
const blocksOf = (seconds: readonly SparseCounts[]): readonly SparseCounts[] => {
  const size = Math.ceil(seconds.length / MOST_BLOCKS);
  if (size <= 1) return seconds;
  return Array.from({ length: Math.ceil(seconds.length / size) }, (_, at) =>
    mergeAll(seconds.slice(at * size, (at + 1) * size)),
  );
};
