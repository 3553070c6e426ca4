import type { LoadBreach, LoadRecord } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord, RunRecord } from "../../conformance/contract/record.ts";
import type { Course } from "./course.ts";
import type { PushDigest } from "./pushes.ts";
import type { Sampled } from "./sampled.ts";

export interface GateView {
  readonly kind: "conform";
  readonly run: string;
  readonly record: RunRecord;
  /** Exchanges of each rule that was not broken; a broken rule's exchanges are in the record. */
  readonly evidence: ReadonlyMap<string, Sampled<ExchangeRecord>>;
  readonly pushes: PushDigest | undefined;
  readonly pinned: Readonly<Record<string, string>>;
}

export interface LoadView {
  readonly kind: "load";
  readonly run: string;
  readonly record: LoadRecord;
  readonly course: Course;
  readonly breaches: Sampled<LoadBreach>;
}

export type RunView = GateView | LoadView;
