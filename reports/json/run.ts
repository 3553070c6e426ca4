import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { conformDocument } from "./conform.ts";

interface Recorded<Record> {
  readonly record: Record;
  readonly directory: string;
}

/** The document of `run --json`. The exit code is the gate's, or the load's if the gate's is 0. */
export const wholeRunDocument = (
  gate: Recorded<RunRecord>,
  load: Recorded<LoadRecord> | undefined,
  { exitCode, reports }: { readonly exitCode: number; readonly reports: readonly string[] },
) => ({
  exitCode,
  gate: conformDocument(gate.record, gate.directory),
  // If the load was not played, the exit code and standard error say why.
  load: load === undefined ? null : { ...load.record, run: load.directory },
  reports,
});
