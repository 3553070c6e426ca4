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
  /** How many digests are compared at once with each new one. */
  readonly recent?: number;
  /** How many digests are kept on disk; of longer runs a share is compared. */
  readonly mostKept?: number;
}

const PARTITIONS = 64;
/** Digest, moment, and a number whose lowest bit says that `add` told the duplicate; the rest is what was issued. */
const RECORD_BYTES = 16;
const HELD_RECORDS = 512;
const RECENT = 65_536;
/** Half a gigabyte of disk: four hours of 2,000 credentials a second. */
const MOST_KEPT = 33_554_432;

/**
 * Recent digests are kept in two generations of a map, of which the older is dropped when the
 * younger is full. All digests go to partition files by their first bits; two equal ones meet in
 * the same file, which is sorted at the end. A run with more digests than the disk should bear
 * drops half of the partitions: what is left is still compared completely.
 */
export const createUniqueness = ({ folder, ...options }: UniquenessOptions): Uniqueness => {
  const { recent = RECENT, mostKept = MOST_KEPT } = options;
  const kinds: string[] = [];
  const held = Array.from({ length: PARTITIONS }, () => ({
    bytes: Buffer.alloc(HELD_RECORDS * RECORD_BYTES),
    count: 0,
  }));
  let [young, old] = [new Map<string, number>(), new Map<string, number>()];
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

  const keep = (kind: number, digest: string, atMs: number, isTold: boolean): void => {
    const partition = Number.parseInt(digest.slice(0, 2), 16) % PARTITIONS;
    const buffer = held[partition];
    if (buffer === undefined || partition >= partitions || failure !== undefined) return;
    const at = buffer.count * RECORD_BYTES;
    buffer.bytes.write(digest, at, 8, "hex");
    buffer.bytes.writeUInt32LE(Math.min(0xffff_ffff, Math.max(0, Math.round(atMs))), at + 8);
    buffer.bytes.writeUInt32LE(kind * 2 + (isTold ? 1 : 0), at + 12);
    buffer.count += 1;
    kept += 1;
    if (buffer.count === HELD_RECORDS) flush(partition);
    if (kept >= mostKept && partitions > 1) thinOut();
  };

  return {
    add: (what, digest, atMs) => {
      if (!/^[0-9a-f]{16}$/.test(digest)) return undefined;
      let kind = kinds.indexOf(what);
      if (kind === -1) kind = kinds.push(what) - 1;
      const key = `${digest}${kind}`;
      const beforeMs = young.get(key) ?? old.get(key);
      if (beforeMs === undefined) {
        if (young.size >= recent) [young, old] = [new Map(), young];
        young.set(key, atMs);
      }
      keep(kind, digest, atMs, beforeMs !== undefined);
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
        ? `compared only with the ${recent} issued before, because the digests could not be written (${failure})`
        : partitions < PARTITIONS
          ? `compared with the ${recent} issued before, and one in ${PARTITIONS / partitions} over the whole run`
          : undefined,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
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
