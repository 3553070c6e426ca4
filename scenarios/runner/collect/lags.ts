import { askedRateAt, endOfStages, type Stage } from "../../../conformance/contract/load-shape.ts";

/**
 * Start lags as they are. A dropped iteration has no number, and the script tells by its number when an iteration was
 * due, so that each dropped one makes all later ones seem one interval later than they are.
 */
export const createLags = (stages: readonly Stage[]) => {
  const lastMs = endOfStages(stages) - 1;
  let dropped = 0;
  return {
    dropped: (count: number): void => void (dropped += count),
    /** The lag at a moment since the start of the load, from what the script told. */
    at: (sinceStartMs: number, toldMs: number): number =>
      dropped === 0
        ? toldMs
        : Math.max(0, toldMs - (dropped * 1_000) / askedRateAt(stages, Math.min(lastMs, sinceStartMs))),
  };
};
