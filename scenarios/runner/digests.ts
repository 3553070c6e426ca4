import { digestPartitions } from "../../conformance/contract/segments.ts";
import { issuedRules, type Issued } from "../protocol.ts";

/*
 * A digest in a file: eight of its bytes, then four for its kind and moment. Files are partitioned by the digests'
 * first bits, so that a merge holds only one partition of each segment at a time.
 */

export const digestBytes = 12;
const kinds = Object.keys(issuedRules) as readonly Issued[];
/** Thirty bits of milliseconds cover twelve days. */
const MOMENT_BITS = 30;
const LATEST_MS = 2 ** MOMENT_BITS - 1;

export const partitionOf = (digest: string): number =>
  Math.floor((Number.parseInt(digest.slice(0, 2), 16) * digestPartitions) / 256);

export interface StoredDigest {
  readonly what: Issued;
  /** Sixteen hexadecimal digits. */
  readonly digest: string;
  /** Since the start of the load, by the segment's own clock. */
  readonly atMs: number;
}

export const writeDigest = (buffer: Buffer, at: number, { what, digest, atMs }: StoredDigest): void => {
  buffer.write(digest, at, 8, "hex");
  const moment = Math.min(LATEST_MS, Math.max(0, Math.round(atMs)));
  buffer.writeUInt32BE(kinds.indexOf(what) * 2 ** MOMENT_BITS + moment, at + 8);
};

export interface CrossDuplicate {
  readonly what: Issued;
  readonly first: { readonly segment: number; readonly atMs: number };
  readonly second: { readonly segment: number; readonly atMs: number };
}

/**
 * A hash table with four words per slot, which share a cache line: both halves of the digest, the moment, and the
 * positions of the first and last segment that had it, each plus one; 0 is an empty slot.
 */
const WORDS = 4;
const PLACE_BITS = 16;
const FIRST_PLACE = 2 ** PLACE_BITS - 1;

/** A cleared table for `count` digests; reuses `spare` if large enough. */
const tableFor = (count: number, spare: Int32Array): Int32Array => {
  const words = WORDS * 2 ** Math.max(4, Math.ceil(Math.log2(count * 1.5)));
  return spare.length === words ? spare.fill(0) : new Int32Array(words);
};

/**
 * Codes are compared with codes, and tokens with tokens of either kind: grouped by the rule that a duplicate breaks.
 */
const groups = [...new Set(Object.values(issuedRules))];
const groupOf = kinds.map((kind) => groups.indexOf(issuedRules[kind]));

/**
 * Finds credentials issued in several segments, within one partition of each. For n segments with the same credential,
 * reports n - 1; a segment finds its own duplicates itself. Moments are each segment's own. Returns its table for reuse
 * by the next partition, because garbage of that size would accumulate.
 */
export const crossDuplicates = (
  partitions: readonly { readonly segment: number; readonly bytes: Buffer }[],
  onFound: (duplicate: CrossDuplicate) => void,
  spare: Int32Array = new Int32Array(),
): Int32Array => {
  const table = tableFor(
    partitions.reduce((sum, { bytes }) => sum + bytes.length / digestBytes, 0),
    spare,
  );
  const mask = table.length - 1;
  for (const [index, { segment, bytes }] of partitions.entries()) {
    const place = index + 1;
    // Signed words throughout: other number types take several times as long, and there are tens of millions.
    const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at + digestBytes <= bytes.length; at += digestBytes) {
      const told = words.getInt32(at + 8);
      const kind = told >>> MOMENT_BITS;
      const what = kinds[kind];
      if (what === undefined) continue;
      const high = words.getInt32(at);
      const low = words.getInt32(at + 4) ^ (groupOf[kind] ?? 0);
      let slot = (low << 2) & mask;
      while (table[slot + 3] !== 0 && (table[slot] !== low || table[slot + 1] !== high))
        slot = (slot + WORDS) & mask;
      const places = table[slot + 3] ?? 0;
      const first = places & FIRST_PLACE;
      if (first === 0) {
        table[slot] = low;
        table[slot + 1] = high;
        table[slot + 2] = told & LATEST_MS;
      } else if (places >>> PLACE_BITS !== place) {
        onFound({
          what,
          first: { segment: partitions[first - 1]?.segment ?? segment, atMs: table[slot + 2] ?? 0 },
          second: { segment, atMs: told & LATEST_MS },
        });
      }
      table[slot + 3] = (first === 0 ? place : first) | (place << PLACE_BITS);
    }
  }
  return table;
};
