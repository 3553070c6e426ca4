import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileMode, directoryMode } from "../../../conformance/contract/files.ts";

/** The same credential issued twice. Moments are milliseconds since the start of the load. */
export interface Duplicate {
  readonly what: string;
  readonly atMs: number;
  /** When it was issued before. */
  readonly beforeMs: number;
}

/** Finds credentials that were issued twice, by their digests, in memory that does not grow with the run. */
export interface Uniqueness {
  /** Takes a digest of 16 hexadecimal digits; answers at once where it was issued a short time ago. */
  readonly add: (what: string, digest: string, atMs: number) => Duplicate | undefined;
  /** Compares all digests of the run; tells those duplicates that `add` has not. Throws where a file cannot be read. */
  readonly finish: () => readonly Duplicate[];
  /** What the run was not searched for, in words; undefined where all was compared with all. */
  readonly note: () => string | undefined;
  /** Removes the files. */
  readonly remove: () => void;
}

export interface UniquenessOptions {
  /** A folder of its own, for the digests. */
  readonly folder: string;
  /** How many digests may be known at once: a power of two. */
  readonly slots?: number;
  /** How many digests are kept on disk; of longer runs a share is compared. */
  readonly mostKept?: number;
}

const PARTITIONS = 64;
/** Digest, moment, and a number whose lowest bit says that `add` told the duplicate; the rest is what was issued. */
const RECORD_BYTES = 16;
const HELD_RECORDS = 512;
const SLOTS = 131_072;
/** Half a gigabyte of disk: four hours of 2,000 credentials a second. */
const MOST_KEPT = 33_554_432;

/**
 * Each digest takes the slot that its last bits name, so that a new one is compared at once with
 * the latest of that slot: among some ten thousand recent ones hardly any is missed. All digests go
 * to partition files by their first bits; two equal ones meet in the same file, which is sorted at
 * the end, so that nothing is missed then. A run with more digests than the disk should bear drops
 * half of the partitions: what is left is still compared completely.
 */
export const createUniqueness = ({ folder, ...options }: UniquenessOptions): Uniqueness => {
  const { slots = SLOTS, mostKept = MOST_KEPT } = options;
  const kinds: string[] = [];
  const held = Array.from({ length: PARTITIONS }, () => ({
    bytes: Buffer.alloc(HELD_RECORDS * RECORD_BYTES),
    count: 0,
  }));
  const known = {
    high: new Uint32Array(slots),
    low: new Uint32Array(slots),
    /** One more than the kind: 0 is an empty slot. */
    kind: new Uint8Array(slots),
    atMs: new Float64Array(slots),
  };
  let kept = 0;
  let partitions = PARTITIONS;
  let failure: string | undefined;
  mkdirSync(folder, { recursive: true, mode: directoryMode });

  const fileOf = (partition: number): string => path.join(folder, `digests-${partition}`);

  const flush = (partition: number): void => {
    const buffer = held[partition];
    if (buffer === undefined || buffer.count === 0) return;
    const bytes = buffer.bytes.subarray(0, buffer.count * RECORD_BYTES);
    buffer.count = 0;
    try {
      appendFileSync(fileOf(partition), bytes, { mode: fileMode });
    } catch (error) {
      failure ??= error instanceof Error ? error.message : String(error);
    }
  };

  const thinOut = (): void => {
    partitions /= 2;
    kept /= 2;
    for (let partition = partitions; partition < 2 * partitions; partition += 1)
      rmSync(fileOf(partition), { force: true });
  };

  /** When the same one took its slot; otherwise takes the slot for this one. */
  const recall = (kind: number, high: number, low: number, atMs: number): number | undefined => {
    const slot = (low ^ kind) & (slots - 1);
    if (known.low[slot] === low && known.high[slot] === high && known.kind[slot] === kind + 1)
      return known.atMs[slot];
    known.low[slot] = low;
    known.high[slot] = high;
    known.kind[slot] = kind + 1;
    known.atMs[slot] = atMs;
    return undefined;
  };

  const keep = (kind: number, high: number, low: number, atMs: number, isTold: boolean): void => {
    const partition = (high >>> 24) % PARTITIONS;
    const buffer = held[partition];
    if (buffer === undefined || partition >= partitions || failure !== undefined) return;
    const at = buffer.count * RECORD_BYTES;
    buffer.bytes.writeUInt32LE(low, at);
    buffer.bytes.writeUInt32LE(high, at + 4);
    buffer.bytes.writeUInt32LE(Math.min(0xffff_ffff, Math.max(0, Math.round(atMs))), at + 8);
    buffer.bytes.writeUInt32LE(kind * 2 + (isTold ? 1 : 0), at + 12);
    buffer.count += 1;
    kept += 1;
    if (buffer.count === HELD_RECORDS) flush(partition);
    if (kept >= mostKept && partitions > 1) thinOut();
  };

  return {
    add: (what, digest, atMs) => {
      const high = hexAt(digest, 0);
      const low = hexAt(digest, 8);
      if (digest.length !== 16 || Number.isNaN(high) || Number.isNaN(low)) return undefined;
      let kind = kinds.indexOf(what);
      if (kind === -1) kind = kinds.push(what) - 1;
      const beforeMs = recall(kind, high, low, atMs);
      keep(kind, high, low, atMs, beforeMs !== undefined);
      return beforeMs === undefined ? undefined : { what, atMs, beforeMs };
    },
    finish: () => {
      const found: Duplicate[] = [];
      for (let partition = 0; partition < partitions; partition += 1) {
        flush(partition);
        if (failure !== undefined) break;
        for (const { kind, atMs, beforeMs } of duplicatesIn(readIfThere(fileOf(partition))))
          found.push({ what: kinds[kind] ?? "credential", atMs, beforeMs });
      }
      return found.toSorted((a, b) => a.atMs - b.atMs);
    },
    note: () =>
      failure !== undefined
        ? `compared only with some ten thousand issued before, because the digests could not be written (${failure})`
        : partitions < PARTITIONS
          ? `compared with some ten thousand issued before, and one in ${PARTITIONS / partitions} over the whole run`
          : undefined,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

/** Eight hexadecimal digits as a number; NaN where they are none. */
const hexAt = (text: string, from: number): number => {
  let value = 0;
  for (let at = from; at < from + 8; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) value = value * 16 + (code - 48);
    else if (code >= 97 && code <= 102) value = value * 16 + (code - 87);
    else return Number.NaN;
  }
  return value;
};

interface FoundDuplicate {
  readonly kind: number;
  readonly atMs: number;
  readonly beforeMs: number;
}

/** Sorts the digests alone, which is fast, and looks at whole records only of those that occur twice. */
const duplicatesIn = (bytes: Buffer): readonly FoundDuplicate[] => {
  const count = Math.floor(bytes.length / RECORD_BYTES);
  const digests = new BigUint64Array(count);
  for (let at = 0; at < count; at += 1) digests[at] = bytes.readBigUInt64LE(at * RECORD_BYTES);
  digests.sort();
  const twice = new Set<bigint>();
  for (let at = 1; at < count; at += 1) {
    const digest = digests[at] ?? 0n;
    if (digest === digests[at - 1]) twice.add(digest);
  }
  if (twice.size === 0) return [];
  const first = new Map<string, number>();
  const found: FoundDuplicate[] = [];
  for (let at = 0; at < count; at += 1) {
    const digest = bytes.readBigUInt64LE(at * RECORD_BYTES);
    if (!twice.has(digest)) continue;
    const atMs = bytes.readUInt32LE(at * RECORD_BYTES + 8);
    const flags = bytes.readUInt32LE(at * RECORD_BYTES + 12);
    const kind = flags >>> 1;
    const key = `${digest} ${kind}`;
    const beforeMs = first.get(key);
    if (beforeMs === undefined) first.set(key, atMs);
    else if ((flags & 1) === 0) found.push({ kind, atMs, beforeMs });
  }
  return found;
};

const readIfThere = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
};
