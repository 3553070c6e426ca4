import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileMode, fileReason, recordFiles } from "../contract/files.ts";
import { manifestFile, manifestOf, type ManifestEntry } from "../contract/manifest.ts";
import {
  inCatalogueOrder,
  recordVersion,
  type ExchangeRecord,
  type Outcome,
  type RuleResult,
  type RunRecord,
} from "../contract/record.ts";
import { UnfinishedRecord } from "../contract/problem.ts";
import type { JournalSink } from "../world/evidence/journal.ts";
import { appender, lazily, type Appender } from "./appender.ts";
import { prepareDirectory, unwritable } from "./directory.ts";

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
   * Completes the record, with a manifest of its files, and returns it as it stands in run.json.
   * Throws UnfinishedRecord where anything of the run could not be written.
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
    replaceJson(directory, recordFiles.run, opened);
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
      const sealed: RunRecord = { ...opened, ...final, state: "sealed", rules: inCatalogueOrder(results) };
      if (failure !== undefined) throw unfinished(directory, sealed, failure);
      try {
        const run = replaceJson(directory, recordFiles.run, sealed);
        replaceJson(
          directory,
          manifestFile,
          manifestOf({
            [recordFiles.run]: run,
            ...entryOf(recordFiles.exchanges, exchanges),
            ...entryOf(recordFiles.rules, rules),
            ...entryOf(recordFiles.pushes, pushes),
          }),
        );
      } catch (error) {
        throw unfinished(directory, sealed, error);
      }
      return sealed;
    },
    close,
  };
};

const unfinished = (directory: string, record: RunRecord, cause: unknown): UnfinishedRecord<RunRecord> =>
  new UnfinishedRecord({ directory, record: { ...record, state: "open" } }, fileReason(cause), { cause });

/** Puts a file in place in one step: readers see the old one or the new one, whole. */
const replaceJson = (directory: string, name: string, value: unknown): ManifestEntry => {
  const target = path.join(directory, name);
  const draft = `${target}.part`;
  const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  const file = openSync(draft, "w", fileMode);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, target);
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
};

const entryOf = (name: string, appended: Appender): Record<string, ManifestEntry> => {
  const entry = appended.written();
  return entry === undefined ? {} : { [name]: entry };
};
