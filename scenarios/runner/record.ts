import { fileReason } from "../../conformance/contract/files.ts";
import {
  loadFiles,
  type LoadBreach,
  type LoadRecord,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import { recordVersion } from "../../conformance/contract/record.ts";
import { openRunDirectory, type RunDirectory } from "../../conformance/files/run-directory.ts";
import type { Issued } from "../protocol.ts";
import { digestFile, digestPartitions } from "../../conformance/contract/segments.ts";
import { digestBytes, partitionOf, writeDigest } from "./digests.ts";

export type LoadHeader = Omit<LoadRecord, "version" | "command" | "state" | "endedAt">;

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
  const opened: LoadRecord = { ...header, version: recordVersion, command: "load", state: "open" };
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
      return run.seal({ ...opened, ...final, state: "sealed" });
    },
    [Symbol.dispose]: () => {
      digests?.flush();
      run.close();
    },
  };
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

/** The named fields that are present. */
export const pick = <T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> =>
  Object.fromEntries(keys.flatMap((key) => (key in from ? [[key, from[key]]] : []))) as Pick<T, Key>;
