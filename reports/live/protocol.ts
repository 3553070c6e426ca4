import type { LoadBreach, LoadRecord, SecondLine } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import type { LatencyPoint } from "../gather/heat.ts";

/** Events sent to the live page, in order. */
export type LiveEvent =
  | GateBegan
  | LoadBegan
  | RuleSettled
  | { readonly kind: "second"; readonly line: SecondLine }
  | HeatCells
  | { readonly kind: "breach"; readonly breach: LoadBreach }
  /** What the run is waiting for; empty if nothing. */
  | { readonly kind: "waiting"; readonly what: string }
  | { readonly kind: "outcome"; readonly of: "gate" | "load"; readonly outcome: string }
  /** The run is over. If there is a report, the page becomes it. */
  | { readonly kind: "end"; readonly report: boolean };

export interface GateBegan {
  readonly kind: "gate";
  readonly target: string;
  readonly ids: readonly string[];
}

export interface LoadBegan extends Readonly<Pick<LoadRecord, "scenario" | "shape" | "rate" | "durationMs">> {
  readonly kind: "load";
  readonly target: string;
}

export interface RuleSettled {
  readonly kind: "rule";
  readonly id: string;
  readonly verdict: VerdictKind;
  readonly durationMs: number;
  /** Set for a breach. */
  readonly expected?: string;
  readonly actual?: string;
  readonly exchanges: readonly ExchangeRecord[];
}

/** Latencies of an endpoint's granted requests in one second of the load, counted by row of the heat map. */
export interface HeatCells extends LatencyPoint {
  readonly kind: "heat";
  readonly endpoint: string;
}
