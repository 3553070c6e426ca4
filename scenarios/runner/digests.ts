import { digestPartitions } from "../../conformance/contract/segments.ts";
import { issuedRules, type Issued } from "../protocol.ts";

/*
 * A digest in a file: eight bytes of it, then four with its kind and its moment. Files are cut by the first
 * bits of the digests, so that a merge holds only one of them at a time of each segment.
 */

export const digestBytes = 12;
const kinds = Object.keys(issuedRules) as readonly Issued[];
/** Thirty bits of milliseconds are twelve days. */
const MOMENT_BITS = 30;
const LATEST_MS = 2 ** MOMENT_BITS - 1;

export const partitionOf = (digest: string): number =>
  Math.floor((Number.parseInt(digest.slice(0, 2), 16) * digestPartitions) / 256);

export interface StoredDigest {
  readonly what: Issued;
  /** Sixteen hexadecimal digits. */
  readonly digest: string;
  /** Since the start of the load, by the segment's own account. */
  readonly atMs: number;
}

export const writeDigest = (buffer: Buffer, at: number, { what, digest, atMs }: StoredDigest): void => {
  buffer.write(digest, at, 8, "hex");
  const moment = Math.min(LATEST_MS, Math.max(0, Math.round(atMs)));
  buffer.writeUInt32BE(kinds.indexOf(what) * 2 ** MOMENT_BITS + moment, at + 8);
};

/** What was issued on two machines. */
export interface CrossDuplicate {
  readonly what: Issued;
  readonly first: { readonly segment: number; readonly atMs: number };
  readonly second: { readonly segment: number; readonly atMs: number };
}

interface Table {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  /** One more than the place of the segment that had it first, and of the one that had it last; 0 is an empty slot. */
  readonly firsts: Uint16Array;
  readonly lasts: Uint16Array;
  readonly moments: Uint32Array;
}

const tableFor = (count: number): Table => {
  const slots = 2 ** Math.max(4, Math.ceil(Math.log2(count * 1.5)));
  return {
    highs: new Uint32Array(slots),
    lows: new Uint32Array(slots),
    firsts: new Uint16Array(slots),
    lasts: new Uint16Array(slots),
    moments: new Uint32Array(slots),
  };
};

/** Codes are compared with codes, and tokens with tokens of either kind: by the rule that both would break. */
const groups = [...new Set(Object.values(issuedRules))];
const groupOf = kinds.map((kind) => groups.indexOf(issuedRules[kind]));

/**
 * Finds what several segments were issued, in one partition of each. Of what so many segments had, one less
 * are told: what one segment was issued twice it has found itself. Moments are each segment's own.
 */
export const crossDuplicates = (
  partitions: readonly { readonly segment: number; readonly bytes: Buffer }[],
  onFound: (duplicate: CrossDuplicate) => void,
): void => {
  const table = tableFor(partitions.reduce((sum, { bytes }) => sum + bytes.length / digestBytes, 0));
  const { highs, lows, firsts, lasts, moments } = table;
  const mask = highs.length - 1;
  for (const [place, { segment, bytes }] of partitions.entries()) {
    const whole = bytes.length - (bytes.length % digestBytes);
    for (let at = 0; at < whole; at += digestBytes) {
      const told = bytes.readUInt32BE(at + 8);
      const kind = Math.floor(told / 2 ** MOMENT_BITS);
      const what = kinds[kind];
      if (what === undefined) continue;
      const high = bytes.readUInt32BE(at);
      const low = (bytes.readUInt32BE(at + 4) ^ (groupOf[kind] ?? 0)) >>> 0;
      let slot = low & mask;
      while (firsts[slot] !== 0 && (lows[slot] !== low || highs[slot] !== high)) slot = (slot + 1) & mask;
      const atMs = told % 2 ** MOMENT_BITS;
      if (firsts[slot] === 0) {
        [highs[slot], lows[slot], firsts[slot], moments[slot]] = [high, low, place + 1, atMs];
      } else if (lasts[slot] !== place + 1) {
        const first = partitions[(firsts[slot] ?? 1) - 1]?.segment ?? segment;
        onFound({ what, first: { segment: first, atMs: moments[slot] ?? 0 }, second: { segment, atMs } });
      }
      lasts[slot] = place + 1;
    }
  }
};
