import type { LoadBreach, LoadRecord, SecondLine } from "../../conformance/contract/load-record.ts";
import type { PushLine } from "../../conformance/contract/push.ts";
import type { ExchangeRecord, RunRecord } from "../../conformance/contract/record.ts";
import type { HistogramFilter, SecondHistogram, SecondLatencies } from "./latency-log.ts";

interface AnyRun {
  readonly directory: string;
  /** The lines of the receiver's journal; none if no pushes were received. */
  pushes(): AsyncGenerator<PushLine>;
}

/** A gate run. Each generator call reads its file again, line by line. */
export interface GateRun extends AnyRun {
  readonly kind: "conform";
  readonly record: RunRecord;
  /** In the order in which the exchanges ended. */
  exchanges(): AsyncGenerator<ExchangeRecord>;
}

export interface LoadRun extends AnyRun {
  readonly kind: "load";
  readonly record: LoadRecord;
  seconds(): AsyncGenerator<SecondLine>;
  histograms(filter?: HistogramFilter): AsyncGenerator<SecondHistogram>;
  latencies(): AsyncGenerator<SecondLatencies>;
  breaches(): AsyncGenerator<LoadBreach>;
}

export type Run = GateRun | LoadRun;

/** A run of which nothing but its record is used. */
export type RecordedGate = Pick<GateRun, "kind" | "directory" | "record">;
export type RecordedLoad = Pick<LoadRun, "kind" | "directory" | "record">;
export type RecordedRun = RecordedGate | RecordedLoad;
