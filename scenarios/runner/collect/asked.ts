import { askedRateAt, type Stage } from "../../../conformance/contract/load-shape.ts";

/**
 * Number of arrivals the stages request between two moments: rates change linearly, so the rate in the middle is the
 * mean.
 */
export const askedBetween = (stages: readonly Stage[], fromMs: number, toMs: number): number =>
  stages.reduce((sum, stage) => {
    const from = Math.max(fromMs, stage.startMs);
    const to = Math.min(toMs, stage.startMs + stage.durationMs);
    return to <= from ? sum : sum + (askedRateAt([stage], (from + to) / 2) * (to - from)) / 1_000;
  }, 0);

/** When the last stage ends, in milliseconds since the start of the load. */
export const endOfStages = (stages: readonly Stage[]): number =>
  stages.reduce((end, { startMs, durationMs }) => Math.max(end, startMs + durationMs), 0);
