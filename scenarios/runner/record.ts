import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import {
  codeOf,
  directoryMode,
  fileMode,
  fileReason,
  makeFolders,
} from "../../conformance/contract/files.ts";
import {
  loadFiles,
  type LoadBreach,
  type LoadRecord,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import { manifestFile, manifestOf, type ManifestEntry } from "../../conformance/contract/manifest.ts";
import { ConfigurationError, UnfinishedRecord } from "../../conformance/contract/problem.ts";
import type { Issued } from "../protocol.ts";
import { openDigests } from "./record-digests.ts";

const recordVersion = 1;

/** What is known of a load run before it begins. */
export type LoadHeader = Omit<LoadRecord, "version" | "command" | "state" | "endedAt">;

/** What it came to. Anything of the header may be given again. */
export type LoadFinal = Partial<LoadHeader> & Pick<LoadRecord, "endedAt">;

/** Receives a load run as it goes. None of these throws; `failure` reports what could not be written. */
export interface LoadSink {
  /** Whole lines of the histogram log. */
  latency(lines: string): void;
  second(line: SecondLine): void;
  breach(breach: LoadBreach): void;
  /** A segment keeps the digests of what was issued. */
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

export interface LoadRecordWriter extends LoadSink {
  readonly directory: string;
  /** Completes the record, with a manifest of its files. Throws UnfinishedRecord where anything of the run could not be written. */
  seal(final: LoadFinal): LoadRecord;
  /** Lets the files go, sealed or not. Safe to call twice. */
  close(): void;
}

/** k6 says the same thing over and over when something is wrong; the beginning tells what. */
const MOST_LOG_BYTES = 1_048_576;

/**
 * Starts the run directory of a load run, which must not exist yet or be empty. run.json is there
 * from the beginning, in state "open", and lines are appended as they come, so that a killed run
 * can be read up to its last second. Throws ConfigurationError, naming --out, where the directory is in use
 * or cannot be written.
 */
export const openLoadRecord = (directory: string, header: LoadHeader): LoadRecordWriter => {
  const opened: LoadRecord = { ...header, version: recordVersion, command: "load", state: "open" };
  const { digests, ...files } = prepare(directory, opened);
  let failure: unknown;
  let logged = 0;
  let isOpen = true;
  const attempt = (write: () => void): void => {
    // Once a write has failed, more would only garble the file.
    if (!isOpen || failure !== undefined) return;
    try {
      write();
    } catch (error) {
      failure = error;
    }
  };
  const append = (file: number, text: string): void =>
    attempt(() => {
      const bytes = Buffer.from(text);
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    });
  const close = (): void => {
    if (!isOpen) return;
    attempt(() => digests?.flush());
    isOpen = false;
    for (const file of Object.values(files)) closeSync(file);
    digests?.close();
  };
  return {
    directory,
    latency: (lines) => append(files.latency, lines),
    second: (line) => append(files.seconds, `${JSON.stringify(line)}\n`),
    breach: (breach) => append(files.breaches, `${JSON.stringify(breach)}\n`),
    digest: (what, digest, atMs) => attempt(() => digests?.add(what, digest, atMs)),
    log: (line) => {
      if (logged > MOST_LOG_BYTES) return;
      logged += line.length + 1;
      append(files.k6Log, logged > MOST_LOG_BYTES ? "(cut off here)\n" : `${line}\n`);
    },
    failure: () => (failure === undefined ? undefined : fileReason(failure)),
    seal: (final) => {
      close();
      const sealed: LoadRecord = { ...opened, ...final, state: "sealed" };
      if (failure !== undefined) throw unfinished(directory, sealed, failure);
      try {
        replaceJson(directory, loadFiles.run, sealed);
        replaceJson(directory, manifestFile, manifestOf(entriesOf(directory)));
      } catch (error) {
        throw unfinished(directory, sealed, error);
      }
      return sealed;
    },
    close,
  };
};

const prepare = (directory: string, opened: LoadRecord) => {
  try {
    makeFolders(path.dirname(directory), { mkdir: mkdirSync, above: (one) => path.dirname(one) });
    try {
      mkdirSync(directory, { mode: directoryMode });
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      if (readdirSync(directory).length > 0) throw inUse(directory);
    }
    mkdirSync(path.join(directory, path.dirname(loadFiles.latency)), { mode: directoryMode });
    replaceJson(directory, loadFiles.run, opened);
    const create = (name: string): number => openSync(path.join(directory, name), "ax", fileMode);
    return {
      latency: create(loadFiles.latency),
      seconds: create(loadFiles.seconds),
      breaches: create(loadFiles.breaches),
      k6Log: create(loadFiles.k6Log),
      digests: opened.segment === undefined ? undefined : openDigests(directory),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const reason = ["ENOTDIR", "EEXIST"].includes(codeOf(error))
      ? "it or a part of its path is a file"
      : fileReason(error);
    throw new ConfigurationError([
      `--out is "${directory}", which cannot be written (${reason}); give a folder that can`,
    ]);
  }
};

const inUse = (directory: string): ConfigurationError =>
  new ConfigurationError([
    `--out is "${directory}", a folder with something in it; give one that does not exist yet or is empty`,
  ]);

const unfinished = (directory: string, record: LoadRecord, cause: unknown): UnfinishedRecord<LoadRecord> =>
  new UnfinishedRecord({ directory, record: { ...record, state: "open" } }, fileReason(cause), { cause });

/** Replaces a file in one step, so that readers see either the old or the new one, whole. */
const replaceJson = (directory: string, name: string, value: unknown): void => {
  const target = path.join(directory, name);
  const draft = `${target}.part`;
  const file = openSync(draft, "w", fileMode);
  try {
    writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, target);
};

/** Every file below the directory, with what it holds; others than the runner write there as well. */
const entriesOf = (directory: string): Record<string, ManifestEntry> =>
  Object.fromEntries(
    readdirSync(directory, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(directory, file).split(path.sep).join("/"), entryOf(file)] as const)
      .filter(([name]) => name !== manifestFile),
  );

const CHUNK_BYTES = 1_048_576;

const entryOf = (name: string): ManifestEntry => {
  const file = openSync(name, "r");
  try {
    const hash = createHash("sha256");
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let bytes = 0;
    for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
      hash.update(chunk.subarray(0, count));
      bytes += count;
    }
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    closeSync(file);
  }
};
