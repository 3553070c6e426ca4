import type { LoadBreach } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { RecordedGate, RecordedLoad } from "../read/index.ts";
import type { Course } from "./course.ts";
import type { PushDigest } from "./pushes.ts";
import type { Sampled } from "./sampled.ts";

/** A gate run as far as it was read: evidence only if its files were read. */
export interface GateView extends RecordedGate {
  /** Exchanges of each rule that was not broken; a broken rule's exchanges are in the record. */
  readonly evidence?: ReadonlyMap<string, Sampled<ExchangeRecord>>;
  readonly pushes?: PushDigest | undefined;
}

/** A load run as far as it was read: its course over time only if its samples were read. */
export interface LoadView extends RecordedLoad {
  readonly course?: Course;
  readonly breaches?: Sampled<LoadBreach>;
}

export type RunView = GateView | LoadView;
