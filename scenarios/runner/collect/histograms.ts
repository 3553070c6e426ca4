import { encodeIntoCompressedBase64, Int32Histogram } from "hdr-histogram-js";
import { countedOf, type Counted } from "../../../conformance/contract/distribution.ts";
import { histogramTag, histogramUnit, type HistogramTag } from "../../../conformance/contract/load-record.ts";

export interface TaggedHistogram extends HistogramTag {
  readonly histogram: Int32Histogram;
}

/** An empty histogram of microseconds, as the contract has them. */
export const latencyHistogram = (): Int32Histogram =>
  new Int32Histogram(1, histogramUnit.highest, histogramUnit.significantDigits);

/** Its counts, by milliseconds. */
export const countedMs = (histogram: Int32Histogram): Counted => countedOf(histogram, histogramUnit.perMs);

/** A latency in the histogram's unit, limited to its range. */
const valueOf = (durationMs: number): number =>
  Math.min(histogramUnit.highest, Math.max(1, Math.round(durationMs * histogramUnit.perMs)));

export const note = (histogram: Int32Histogram, durationMs: number): void =>
  histogram.recordValue(valueOf(durationMs));

export const isNoted = (histogram: Int32Histogram, durationMs: number): boolean =>
  histogram.getCountAtIndex(histogram.countsArrayIndex(valueOf(durationMs))) > 0;

const one = latencyHistogram();

/** Takes a noted latency back. */
export const forget = (histogram: Int32Histogram, durationMs: number): void => {
  one.reset();
  note(one, durationMs);
  histogram.subtract(one);
};

const shape = latencyHistogram();
const middles = Float64Array.from({ length: shape.countsArrayLength }, (_, index) =>
  shape.medianEquivalentValue(shape.valueFromIndex(index)),
);

/**
 * The sum of all latencies in microseconds, counting each as the middle of its cell: the same as the histogram's mean,
 * in a hundredth of the time.
 */
export const sumOf = (histogram: Int32Histogram): number => {
  let sum = 0;
  const last = histogram.countsArrayIndex(histogram.maxValue);
  for (let index = 0; index <= last; index += 1)
    sum += histogram.getCountAtIndex(index) * (middles[index] ?? 0);
  return sum;
};

/** The lines of a histogram log (version 2 encoding) for one second; the first has the head of the log before them. */
export const logLines = (
  startedAtMs: number,
  second: number,
  histograms: readonly TaggedHistogram[],
): string => {
  const lines = histograms.map(({ histogram, ...tag }) => {
    const maximum = (histogram.maxValue / histogramUnit.perMs).toFixed(3);
    return `Tag=${histogramTag(tag)},${second.toFixed(3)},1.000,${maximum},${encodeIntoCompressedBase64(histogram)}\n`;
  });
  return (second === 0 ? logHead(startedAtMs) : "") + lines.join("");
};

const logHead = (startedAtMs: number): string =>
  [
    "#[Latencies of a Touchstone load run, in microseconds; the maximum in milliseconds]",
    "#[Histogram log format version 1.3]",
    `#[StartTime: ${(startedAtMs / 1_000).toFixed(3)} (seconds since epoch)]`,
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    "",
  ].join("\n");
