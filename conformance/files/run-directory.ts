import { mkdirSync, openSync, readdirSync } from "node:fs";
import path from "node:path";
import { codeOf, directoryMode, fileMode, fileReason, recordFiles } from "../contract/files.ts";
import { jsonFile } from "../contract/harmless-text.ts";
import { ConfigurationError, UnfinishedRecord } from "../contract/problem.ts";
import { appender, type Appender, replaceFile } from "./write.ts";

interface AnyRecord {
  readonly state: "open" | "sealed";
}

export type RunDirectory<Record extends AnyRecord> = ReturnType<typeof openRunDirectory<Record>>;

/**
 * Starts a run directory, which must be absent or empty. run.json exists from the beginning, in state "open", and lines
 * are appended as they come, so that a killed run can be read up to its last moments. Throws ConfigurationError, naming
 * --out, if the directory is in use or cannot be written.
 */
export const openRunDirectory = <Record extends AnyRecord>(directory: string, opened: Record) => {
  prepareDirectory(directory);
  orUnwritable(directory, () => replaceJson(directory, recordFiles.run, opened));
  const appenders: Appender[] = [];
  const close = (): void => appenders.forEach((one) => one.close());
  const failure = (): unknown => appenders.map((one) => one.failure()).find((one) => one !== undefined);
  const unfinished = (record: Record, cause: unknown): UnfinishedRecord<Record> =>
    new UnfinishedRecord({ directory, record: { ...record, state: "open" } }, fileReason(cause), { cause });
  return {
    /** A file that is created at the beginning, or with its first line. Throws ConfigurationError. */
    append: (name: string, from: "the beginning" | "its first line" = "the beginning"): Appender => {
      const open = (): number => createFile(directory, name);
      const file = from === "the beginning" ? open() : undefined;
      const made = appender(() => file ?? open());
      appenders.push(made);
      return made;
    },
    /** What prevented a file from being written, if anything did. */
    failure,
    /**
     * Completes the record: run.json is replaced once all else is written. Throws UnfinishedRecord if anything of the run
     * could not be written.
     */
    seal: (record: Record): Record => {
      close();
      if (failure() !== undefined) throw unfinished(record, failure());
      try {
        replaceJson(directory, recordFiles.run, record);
      } catch (error) {
        throw unfinished(record, error);
      }
      return record;
    },
    /** Flushes and closes the files. Safe to call twice. */
    close,
  };
};

/** Creates a run directory if necessary. Throws ConfigurationError like openRunDirectory. */
export const prepareDirectory = (directory: string): void => {
  const present = orUnwritable(directory, () => {
    makeFolders(path.dirname(directory));
    makeFolder(directory, directoryMode);
    return readdirSync(directory);
  });
  if (present.length > 0) throw inUse(directory);
};

const makeFolder = (folder: string, mode?: number): void => {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
};

/**
 * Creates a folder and its parents. Node's own recursion never ends in pseudo file systems that claim that an existing
 * parent does not exist.
 */
export const makeFolders = (folder: string, mode?: number): void => {
  const above = path.dirname(folder);
  try {
    makeFolder(folder, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || above === folder) throw error;
    makeFolders(above, mode);
    makeFolder(folder, mode);
  }
};

const inUse = (directory: string): ConfigurationError =>
  new ConfigurationError([
    `--out is "${directory}", a folder that is not empty; give one that is empty or does not exist yet`,
  ]);

const orUnwritable = <T>(directory: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    const isFile = ["ENOTDIR", "EEXIST"].includes(codeOf(error));
    throw new ConfigurationError([
      `--out is "${directory}", which cannot be written (${isFile ? "it or a part of its path is a file" : fileReason(error)}); choose a writable folder`,
    ]);
  }
};

const createFile = (directory: string, name: string): number =>
  orUnwritable(directory, () => {
    const file = path.join(directory, name);
    makeFolder(path.dirname(file), directoryMode);
    return openSync(file, "ax", fileMode);
  });

const replaceJson = (directory: string, name: string, value: unknown): void =>
  replaceFile(path.join(directory, name), jsonFile(value), fileMode);
