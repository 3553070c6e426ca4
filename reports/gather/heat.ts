import type { Counted } from "../../conformance/contract/distribution.ts";

/** Latencies of some seconds: percentiles, and the number of requests in each row of the heat map. */
export interface LatencyPoint {
  readonly second: number;
  readonly rows: readonly (readonly [row: number, count: number])[];
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Rows of the heat map per factor of ten, from 0.01 ms up. */
const ROWS_PER_DECADE = 8;
const LEAST_DECADE = -2;
export const HEAT_ROWS = 56;

/** Position of a latency in rows, with its fraction. */
export const rowsUpTo = (ms: number): number =>
  (Math.log10(Math.max(ms, 1e-9)) - LEAST_DECADE) * ROWS_PER_DECADE;

export const rowOf = (ms: number): number => Math.min(HEAT_ROWS - 1, Math.max(0, Math.floor(rowsUpTo(ms))));

export const msOf = (row: number): number => 10 ** (row / ROWS_PER_DECADE + LEAST_DECADE);

export const heatRows = ({ values, counts }: Counted): LatencyPoint["rows"] => {
  const rows = new Map<number, number>();
  values.forEach((ms, at) => {
    const row = rowOf(ms);
    rows.set(row, (rows.get(row) ?? 0) + (counts[at] ?? 0));
  });
  return [...rows];
};
