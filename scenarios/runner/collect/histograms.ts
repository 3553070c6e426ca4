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

/** The values that were counted, in milliseconds, ascending, and how often: each the highest that its cell stands for. */
export const cellsOf = (histogram: Int32Histogram): Cells => {
  const cells: (readonly [number, number])[] = [];
  const last = histogram.countsArrayIndex(histogram.maxValue);
  for (let index = 0; index <= last; index += 1) {
    const count = histogram.getCountAtIndex(index);
    if (count > 0)
      cells.push([
        histogram.highestEquivalentValue(histogram.valueFromIndex(index)) / histogramUnit.perMs,
        count,
      ]);
  }
  return cells;
};
