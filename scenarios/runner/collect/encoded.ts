import { inflateSync } from "node:zlib";
import type { Int32Histogram } from "hdr-histogram-js";
import { histogramUnit } from "../../../conformance/contract/load-record.ts";

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
