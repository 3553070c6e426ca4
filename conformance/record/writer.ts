import { openRunDirectory } from "../files/run-directory.ts";
import { recordFiles } from "../contract/files.ts";
import { gateCases } from "../contract/gate-cases.ts";
import {
  inCatalogueOrder,
  recordVersion,
  type Outcome,
  type RuleResult,
  type RunRecord,
} from "../contract/record.ts";
import type { JournalSink } from "../world/evidence/journal.ts";

/** What is known about a run before it begins. */
export type RecordHeader = Omit<
  RunRecord,
  "version" | "state" | "endedAt" | "outcome" | "exitCode" | "rules" | "cases"
>;

/** The result of a run. May override header fields, because the preflight may have found out more. */
export interface RecordFinal extends Partial<RecordHeader> {
  readonly endedAt: string;
  readonly outcome: Outcome;
  readonly exitCode: number;
}

export type RecordWriter = ReturnType<typeof openRecord>;

/** Starts the run directory of a gate run; throws like openRunDirectory. */
export const openRecord = (directory: string, header: RecordHeader) => {
  const opened: RunRecord = { ...header, version: recordVersion, state: "open", rules: [], cases: [] };
  const run = openRunDirectory(directory, opened);
  const exchanges = run.append(recordFiles.exchanges);
  const rules = run.append(recordFiles.rules);
  const pushes = run.append(recordFiles.pushes, "its first line");
  const results: RuleResult[] = [];
  /** Takes every exchange of the run; never throws and never blocks. */
  const sink: JournalSink = { write: exchanges.line, push: pushes.line };
  return {
    sink,
    /** Records a rule's result as soon as it is settled. */
    addRule: (result: RuleResult): void => {
      results.push(result);
      rules.harmlessLine(result);
    },
    /** Completes the record as openRunDirectory does, and returns it as in run.json. */
    seal: (final: RecordFinal): RunRecord => {
      const record = { ...opened, ...final, state: "sealed", rules: inCatalogueOrder(results) } as const;
      return run.seal({ ...record, cases: gateCases(record) });
    },
    close: run.close,
  };
};
