import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { conformDocument, type ConformDocument } from "./conform.ts";

/** The document of `run --json`: the gate's, the load's, and the files of the reports on both. */
export interface WholeRunDocument {
  /** Of both together: the gate's, and where that is 0 the load's. */
  readonly exitCode: number;
  readonly gate: ConformDocument;
  /** Null where the load was not played; the exit code and standard error say why. */
  readonly load: (LoadRecord & { readonly run: string }) | null;
  readonly reports: readonly string[];
}

interface Recorded<Record> {
  readonly record: Record;
  readonly directory: string;
}

export const wholeRunDocument = (
  gate: Recorded<RunRecord>,
  load: Recorded<LoadRecord> | undefined,
  { exitCode, reports }: Pick<WholeRunDocument, "exitCode" | "reports">,
): WholeRunDocument => ({
  exitCode,
  gate: conformDocument(gate.record, gate.directory),
  load: load === undefined ? null : { ...load.record, run: load.directory },
  reports,
});
