import type { LoadBreach, SecondLine } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";

/** What the live page is told, in the order in which it came to pass. */
export type LiveEvent =
  | GateBegan
  | LoadBegan
  | RuleSettled
  | { readonly kind: "second"; readonly line: SecondLine }
  | HeatCells
  | { readonly kind: "breach"; readonly breach: LoadBreach }
  /** What is being waited for; empty where nothing is. */
  | { readonly kind: "waiting"; readonly what: string }
  | { readonly kind: "outcome"; readonly of: "gate" | "load"; readonly outcome: string }
  /** The run is over. Where there is a report, the page becomes it. */
  | { readonly kind: "end"; readonly report: boolean };

export interface GateBegan {
  readonly kind: "gate";
  readonly target: string;
  readonly ids: readonly string[];
}

export interface LoadBegan {
  readonly kind: "load";
  readonly target: string;
  readonly scenario: string;
  readonly shape: string;
  readonly rate: number;
  readonly durationMs: number;
}

export interface RuleSettled {
  readonly kind: "rule";
  readonly id: string;
  readonly verdict: VerdictKind;
  readonly durationMs: number;
  /** Of a breach. */
  readonly expected?: string;
  readonly actual?: string;
  readonly exchanges: readonly ExchangeRecord[];
}

/** Latencies of an endpoint's granted requests in one second of the load: how many in each row of the heat map. */
export interface HeatCells {
  readonly kind: "heat";
  readonly endpoint: string;
  readonly second: number;
  readonly rows: readonly (readonly [row: number, count: number])[];
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** A heat map has so many rows to a factor of ten, from a hundredth of a millisecond up. */
export const ROWS_PER_DECADE = 4;
const LEAST_DECADE = -2;
export const HEAT_ROWS = 28;

/** The row in which a latency is counted. */
export const rowOf = (ms: number): number => {
  const row = Math.floor((Math.log10(Math.max(ms, 1e-9)) - LEAST_DECADE) * ROWS_PER_DECADE);
  return Math.min(HEAT_ROWS - 1, Math.max(0, row));
};

/** The least latency of a row, in milliseconds. */
export const msOf = (row: number): number => 10 ** (row / ROWS_PER_DECADE + LEAST_DECADE);
