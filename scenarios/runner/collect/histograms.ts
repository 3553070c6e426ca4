import { encodeIntoCompressedBase64, Int32Histogram } from "hdr-histogram-js";
import { countedOf, type Counted } from "../../../conformance/contract/distribution.ts";
import { histogramTag, histogramUnit, type HistogramTag } from "../../../conformance/contract/load-record.ts";
import { inflateSync } from "node:zlib";

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

/*
 * Histograms in version 2 encoding (HdrHistogram, AbstractHistogram.encodeIntoCompressedByteBuffer): base64 of a
 * cookie, a length and a zlib stream with a header and counts. A merge reads hundreds of thousands of them, most with
 * few counts, so they are added as they are read, without a histogram object for each.
 */

const cookies = { compressed: 0x1c849304, plain: 0x1c849303 } as const;
/** The bits of a cookie without its word size. */
const withoutWordSize = (cookie: number): number => (cookie & ~0xf0) >>> 0;
const HEADER_BYTES = 40;

/** Adds an encoded histogram, whose maximum is known from elsewhere. False if it is not in a supported encoding. */
export const addEncoded = (sum: Int32Histogram, encoded: string, greatest: number): boolean => {
  const counts = countsIn(encoded);
  return counts !== undefined && addCounts(sum, counts, greatest);
};

/** The counts of a histogram with the contract's range and precision. */
const countsIn = (encoded: string): Buffer | undefined => {
  try {
    const outer = Buffer.from(encoded, "base64");
    if (withoutWordSize(outer.readUInt32BE(0)) !== cookies.compressed) return undefined;
    const plain = inflateSync(outer.subarray(8, 8 + outer.readUInt32BE(4)), { chunkSize: 4_096 });
    const isOurs =
      withoutWordSize(plain.readUInt32BE(0)) === cookies.plain &&
      plain.readInt32BE(12) === histogramUnit.significantDigits &&
      plain.readBigInt64BE(16) === 1n &&
      plain.readBigInt64BE(24) === BigInt(histogramUnit.highest);
    return isOurs ? plain.subarray(HEADER_BYTES, HEADER_BYTES + plain.readInt32BE(4)) : undefined;
  } catch {
    return undefined;
  }
};

/** Counts are ZigZag LEB128: the count of a cell, or, if negative, a number of empty cells. */
const addCounts = (sum: Int32Histogram, counts: Buffer, greatest: number): boolean => {
  let [cell, total, least] = [0, 0, -1];
  for (let at = 0; at < counts.length;) {
    let [value, scale] = [0, 1];
    for (let byte = 0x80; (byte & 0x80) !== 0; scale *= 128) {
      byte = counts[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) * scale;
    }
    if (value % 2 === 1) {
      cell += (value + 1) / 2;
      continue;
    }
    const count = value / 2;
    if (cell >= sum.countsArrayLength) return false;
    if (count > 0) {
      if (least === -1) least = cell;
      sum.addToCountAtIndex(cell, count);
      total += count;
    }
    cell += 1;
  }
  if (total === 0) return true;
  sum.setTotalCount(sum.totalCount + total);
  sum.updateMinAndMax(Math.max(1, sum.valueFromIndex(least)));
  sum.updateMinAndMax(greatest);
  return true;
};
