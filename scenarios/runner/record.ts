import { fileReason } from "../../conformance/contract/files.ts";
import {
  loadFiles,
  type LoadBreach,
  type LoadRecord,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import { loadCases } from "../../conformance/contract/load-cases.ts";
import { recordVersion } from "../../conformance/contract/record.ts";
import { openRunDirectory, type RunDirectory } from "../../conformance/files/run-directory.ts";
import { type Issued, issuedRules } from "../protocol.ts";
import { digestFile, digestPartitions } from "../../conformance/contract/segments.ts";

export type LoadHeader = Omit<LoadRecord, "version" | "command" | "state" | "endedAt" | "cases">;

/** The result. May override fields of the header. */
export type LoadFinal = Partial<LoadHeader> & Pick<LoadRecord, "endedAt">;

/** Receives a load run as it progresses. Its methods never throw; `failure` reports what could not be written. */
export interface LoadSink {
  /** Whole lines of the histogram log. */
  latency(lines: string): void;
  second(line: SecondLine): void;
  breach(breach: LoadBreach): void;
  digest(what: Issued, digest: string, atMs: number): void;
  /** A line of k6's log, masked. */
  log(line: string): void;
  /** Why something could not be written, in words. */
  failure(): string | undefined;
}

/** Keeps nothing, for the preflight. */
export const nowhere: LoadSink = {
  latency: () => undefined,
  second: () => undefined,
  breach: () => undefined,
  digest: () => undefined,
  log: () => undefined,
  failure: () => undefined,
};

export interface LoadRecordWriter extends LoadSink, Disposable {
  readonly directory: string;
  /** Completes the record. Throws UnfinishedRecord if anything could not be written. */
  seal(final: LoadFinal): LoadRecord;
  /** Closes the files, sealed or not. Safe to call twice. */
  [Symbol.dispose](): void;
}

/** When something is wrong k6 repeats itself; the beginning is enough. */
const MOST_LOG_BYTES = 1_048_576;

/** Creates the run directory of a load run; throws as openRunDirectory does. */
export const openLoadRecord = (directory: string, header: LoadHeader): LoadRecordWriter => {
  const opened: LoadRecord = { ...header, version: recordVersion, command: "load", state: "open", cases: [] };
  const run = openRunDirectory(directory, opened);
  const latency = run.append(loadFiles.latency);
  const seconds = run.append(loadFiles.seconds);
  const breaches = run.append(loadFiles.breaches);
  const k6Log = run.append(loadFiles.k6Log);
  const digests = opened.segment === undefined ? undefined : openDigests(run);
  let logged = 0;
  return {
    directory,
    latency: (lines) => latency.text(lines),
    second: (line) => seconds.line(line),
    breach: (breach) => breaches.harmlessLine(breach),
    digest: (what, digest, atMs) => digests?.add(what, digest, atMs),
    log: (line) => {
      if (logged > MOST_LOG_BYTES) return;
      logged += line.length + 1;
      k6Log.text(logged > MOST_LOG_BYTES ? "(cut off here)\n" : `${line}\n`);
    },
    failure: () => (run.failure() === undefined ? undefined : fileReason(run.failure())),
    seal: (final) => {
      digests?.flush();
      const record = { ...opened, ...final, state: "sealed" } as const;
      return run.seal({ ...record, cases: loadCases(record) });
    },
    [Symbol.dispose]: () => {
      digests?.flush();
      run.close();
    },
  };
};

/** The named fields that are present. */
export const pick = <T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> =>
  Object.fromEntries(keys.flatMap((key) => (key in from ? [[key, from[key]]] : []))) as Pick<T, Key>;

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

const BUFFER_BYTES = 512 * digestBytes;

/**
 * The files in which a segment keeps the digests of issued credentials, so that a merge finds those that another
 * segment got as well.
 */
const openDigests = ({ append }: Pick<RunDirectory<never>, "append">) => {
  const partitions = Array.from({ length: digestPartitions }, (_, partition) => ({
    file: append(digestFile(partition)),
    buffer: Buffer.alloc(BUFFER_BYTES),
    filled: 0,
  }));
  const flush = (partition: (typeof partitions)[number]): void => {
    partition.file.bytes(partition.buffer.subarray(0, partition.filled));
    partition.filled = 0;
  };
  return {
    add: (what: Issued, digest: string, atMs: number): void => {
      const partition = /^[0-9a-f]{16}$/.test(digest) ? partitions[partitionOf(digest)] : undefined;
      if (partition === undefined) return;
      writeDigest(partition.buffer, partition.filled, { what, digest, atMs });
      partition.filled += digestBytes;
      if (partition.filled === BUFFER_BYTES) flush(partition);
    },
    flush: () => partitions.forEach(flush),
  };
};
