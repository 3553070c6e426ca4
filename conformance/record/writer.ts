import { openRunDirectory } from "../files/run-directory.ts";
import { recordFiles } from "../contract/files.ts";
import {
  inCatalogueOrder,
  recordVersion,
  type ExchangeRecord,
  type Outcome,
  type RuleResult,
  type RunRecord,
} from "../contract/record.ts";
import type { JournalSink } from "../world/evidence/journal.ts";

/** What is known about a run before it begins. */
export type RecordHeader = Omit<
  RunRecord,
  "version" | "state" | "endedAt" | "outcome" | "exitCode" | "rules"
>;

/** The result of a run. May override header fields, because the preflight may have found out more. */
export interface RecordFinal extends Partial<RecordHeader> {
  readonly endedAt: string;
  readonly outcome: Outcome;
  readonly exitCode: number;
}

export interface RecordWriter {
  readonly directory: string;
  /** Takes every exchange of the run; never throws and never blocks. */
  readonly sink: JournalSink;
  /** Records a rule's result as soon as it is settled. */
  addRule(result: RuleResult): void;
  /**
   * Completes the record, with a manifest of its files, and returns it as in run.json. Throws UnfinishedRecord if
   * anything of the run could not be written.
   */
  seal(final: RecordFinal): RunRecord;
  /** Flushes and closes the files, sealed or not. Safe to call twice. */
  close(): void;
}

/** Starts the run directory of a gate run; throws like openRunDirectory. */
export const openRecord = (directory: string, header: RecordHeader): RecordWriter => {
  const opened: RunRecord = { ...header, version: recordVersion, state: "open", rules: [] };
  const run = openRunDirectory(directory, opened);
  const exchanges = run.append(recordFiles.exchanges);
  const rules = run.append(recordFiles.rules);
  const pushes = run.append(recordFiles.pushes, "its first line");
  const results: RuleResult[] = [];
  return {
    directory,
    sink: {
      write: (record: ExchangeRecord) => exchanges.line(record),
      push: (line) => pushes.line(line),
    },
    addRule: (result) => {
      results.push(result);
      rules.line(result);
    },
    seal: (final) => run.seal({ ...opened, ...final, state: "sealed", rules: inCatalogueOrder(results) }),
    close: () => run.close(),
  };
};
