import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { requirementIds } from "../contract/catalogue.ts";
import {
  recordVersion,
  type ExchangeRecord,
  type Outcome,
  type RuleResult,
  type RunRecord,
} from "../contract/record.ts";
import { ConfigurationError } from "../problem.ts";
import type { JournalSink } from "../world/journal.ts";
import { codeOf, directoryMode, fileMode, fileReason, recordFiles } from "./files.ts";

/** What is known of a run before it begins. */
export type RecordHeader = Omit<
  RunRecord,
  "version" | "state" | "endedAt" | "outcome" | "exitCode" | "rules"
>;

/** What a run came to. Anything of the header may be given again, as the preflight may have found out more. */
export interface RecordFinal extends Partial<RecordHeader> {
  readonly endedAt: string;
  readonly outcome: Outcome;
  readonly exitCode: number;
}

export interface RecordWriter {
  readonly directory: string;
  /** Takes every exchange of the run; never throws and never waits. */
  readonly sink: JournalSink;
  /** Notes a rule's result as soon as it is settled. */
  addRule(result: RuleResult): void;
  /**
   * Completes the record and returns it as it stands in run.json.
   * Throws an Error where anything of the run could not be written.
   */
  seal(final: RecordFinal): RunRecord;
  /** Writes out what is held and lets the files go, sealed or not. Safe to call twice. */
  close(): void;
}

/**
 * Starts the run directory `directory`, which must not exist yet or be empty. run.json is there from
 * the beginning, in state "open"; exchanges and results are appended as they come, so that a killed
 * run can be read up to its last moments. Throws ConfigurationError, naming --out, where the directory
 * is in use or cannot be written.
 */
export const openRecord = (directory: string, header: RecordHeader): RecordWriter => {
  prepareDirectory(directory);
  const exchanges = appender(directory, recordFiles.exchanges);
  const rules = appender(directory, recordFiles.rules);
  const pushes = lazily(() => appender(directory, recordFiles.pushes));
  const results: RuleResult[] = [];
  const opened: RunRecord = { ...header, version: recordVersion, state: "open", rules: [] };
  try {
    replaceRun(directory, opened);
  } catch (error) {
    throw unwritable(directory, error);
  }
  const close = (): void => {
    exchanges.close();
    rules.close();
    pushes.close();
  };
  return {
    directory,
    sink: {
      write: (record: ExchangeRecord) => exchanges.append(record),
      push: (line) => pushes.append(line),
    },
    addRule: (result) => {
      results.push(result);
      rules.append(result);
    },
    seal: (final) => {
      close();
      const failure = exchanges.failure() ?? rules.failure() ?? pushes.failure();
      if (failure !== undefined) throw unfinished(directory, failure);
      const sealed: RunRecord = { ...opened, ...final, state: "sealed", rules: inCatalogueOrder(results) };
      try {
        replaceRun(directory, sealed);
      } catch (error) {
        throw unfinished(directory, error);
      }
      return sealed;
    },
    close,
  };
};

/** Results in the order of the catalogue, whatever the order in which they settled; unknown ids come last. */
export const inCatalogueOrder = (results: readonly RuleResult[]): readonly RuleResult[] => {
  const place = new Map(requirementIds.map((id, index) => [id, index]));
  return results.toSorted((a, b) => (place.get(a.id) ?? Infinity) - (place.get(b.id) ?? Infinity) || 0);
};

const prepareDirectory = (directory: string): void => {
  let present: readonly string[];
  try {
    mkdirSync(path.dirname(directory), { recursive: true });
    try {
      mkdirSync(directory, { mode: directoryMode });
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    present = readdirSync(directory);
  } catch (error) {
    throw unwritable(directory, error);
  }
  if (present.length > 0) throw inUse(directory);
};

const inUse = (directory: string): ConfigurationError =>
  new ConfigurationError([
    `--out is "${directory}", a folder with something in it; give one that does not exist yet or is empty`,
  ]);

const unwritable = (directory: string, error: unknown): ConfigurationError =>
  new ConfigurationError([
    `--out is "${directory}", which cannot be written (${codeOf(error) === "ENOTDIR" || codeOf(error) === "EEXIST" ? "it or a part of its path is a file" : fileReason(error)}); give a folder that can`,
  ]);

const unfinished = (directory: string, cause: unknown): Error =>
  new Error(`the record in ${directory} could not be completed: ${fileReason(cause)}`, { cause });

/** Puts run.json in place in one step: whoever reads it sees the old one or the new one, whole. */
const replaceRun = (directory: string, record: RunRecord): void => {
  const target = path.join(directory, recordFiles.run);
  const draft = `${target}.part`;
  const file = openSync(draft, "w", fileMode);
  try {
    writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, target);
};

interface Appender {
  append(line: unknown): void;
  failure(): unknown;
  close(): void;
}

/**
 * Appends JSON lines to a new file. Lines of one turn of the event loop go out in one write at its
 * end, so that little is lost when the process is killed and little time is spent on system calls.
 */
const appender = (directory: string, name: string): Appender => {
  const file = createFile(directory, name);
  let held: string[] = [];
  let open = true;
  let failure: unknown;
  const flush = (): void => {
    if (held.length === 0) return;
    const bytes = Buffer.from(held.join(""));
    held = [];
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    } catch (error) {
      failure ??= error;
    }
  };
  return {
    append: (line) => {
      // A request that outlives its run has nowhere to go; once a write failed, more would only garble the file.
      if (!open || failure !== undefined) return;
      if (held.length === 0) setImmediate(flush);
      held.push(`${JSON.stringify(line)}\n`);
    },
    failure: () => failure,
    close: () => {
      if (!open) return;
      flush();
      open = false;
      closeSync(file);
    },
  };
};

/** An appender whose file is there from the first line on: a run without pushes has none. */
const lazily = (open: () => Appender): Appender => {
  let made: Appender | undefined;
  let failure: unknown;
  let isClosed = false;
  return {
    append: (line) => {
      if (isClosed) return;
      try {
        made ??= open();
      } catch (error) {
        failure ??= error;
      }
      made?.append(line);
    },
    failure: () => failure ?? made?.failure(),
    close: () => {
      isClosed = true;
      made?.close();
    },
  };
};

const createFile = (directory: string, name: string): number => {
  try {
    return openSync(path.join(directory, name), "wx", fileMode);
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? inUse(directory) : unwritable(directory, error);
  }
};
