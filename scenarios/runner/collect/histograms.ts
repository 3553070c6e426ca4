import { encodeIntoCompressedBase64, Int32Histogram } from "hdr-histogram-js";
import { histogramUnit } from "../../../conformance/contract/load-record.ts";
import type { Cells } from "../judge/cells.ts";

/** An empty histogram of microseconds, as the contract has them. */
export const latencyHistogram = (): Int32Histogram =>
  new Int32Histogram(1, histogramUnit.highest, histogramUnit.significantDigits);

/** Notes a latency. One that is longer than the histogram reaches counts as its longest; none is shorter than its unit. */
export const note = (histogram: Int32Histogram, durationMs: number): void =>
  histogram.recordValue(
    Math.min(histogramUnit.highest, Math.max(1, Math.round(durationMs * histogramUnit.perMs))),
  );

const shape = latencyHistogram();
const middles = Float64Array.from({ length: shape.countsArrayLength }, (_, index) =>
  shape.medianEquivalentValue(shape.valueFromIndex(index)),
);

/** All latencies added up, in microseconds, each counted as the middle of its cell: as the histogram's mean has it, in a hundredth of the time. */
export const sumOf = (histogram: Int32Histogram): number => {
  let sum = 0;
  const last = histogram.countsArrayIndex(histogram.maxValue);
  for (let index = 0; index <= last; index += 1)
    sum += histogram.getCountAtIndex(index) * (middles[index] ?? 0);
  return sum;
};

/** Begins a histogram log, so that other tools can read it as well. */
export const logHead = (startedAtMs: number): string =>
  [
    "#[Latencies of a Touchstone load run, in microseconds; the maximum in milliseconds]",
    "#[Histogram log format version 1.3]",
    `#[StartTime: ${(startedAtMs / 1_000).toFixed(3)} (seconds since epoch)]`,
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    "",
  ].join("\n");

/** One line of a histogram log (version 2 encoding): the histogram of one tag and one second. */
export const logLine = (tag: string, second: number, histogram: Int32Histogram): string => {
  const maximum = (histogram.maxValue / histogramUnit.perMs).toFixed(3);
  return `Tag=${tag},${second.toFixed(3)},1.000,${maximum},${encodeIntoCompressedBase64(histogram)}\n`;
};

/** A distribution in little memory: indices of a histogram's cells, ascending, each followed by its count. */
export type SparseCounts = Int32Array;

export const sparseCounts = (histogram: Int32Histogram): SparseCounts => {
  const pairs: number[] = [];
  const last = histogram.countsArrayIndex(histogram.maxValue);
  for (let index = 0; index <= last; index += 1) {
    const count = histogram.getCountAtIndex(index);
    if (count > 0) pairs.push(index, count);
  }
  return Int32Array.from(pairs);
};

/** Both distributions as one. */
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

/** The counted values in milliseconds, ascending, and how often each came: the highest value of each cell. */
export const cellsOf = (counts: SparseCounts): Cells =>
  Array.from({ length: counts.length / 2 }, (_, at) => [
    shape.highestEquivalentValue(shape.valueFromIndex(counts[2 * at] ?? 0)) / histogramUnit.perMs,
    counts[2 * at + 1] ?? 0,
  ]);
