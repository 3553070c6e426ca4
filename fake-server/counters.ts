import type { Operation } from "./context.ts";

/** What the service has done since its start or last reset. */
export interface Counters {
  readonly requests: Record<Operation, number>;
  /** Answers by HTTP status. */
  readonly answers: Record<number, number>;
  events: number;
  clockMoves: number;
  readonly pushes: Record<"sent" | "acknowledged" | "failed", number>;
}

export const zeroCounters = (): Counters => ({
  requests: { authorize: 0, exchange: 0, refresh: 0, list: 0 },
  answers: {},
  events: 0,
  clockMoves: 0,
  pushes: { sent: 0, acknowledged: 0, failed: 0 },
});
