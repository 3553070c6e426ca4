import type { PushCase } from "./trace.ts";

/** The quantile of first-push lags that counts as usual. */
const MOST = 0.9;

/**
 * How much later than the earliest of them most first pushes are, in milliseconds: in real time, sender, network and a
 * busy machine make any push as late. At most a third of the first delay.
 */
export const usualLagMs = (pushCases: readonly PushCase[], firstDelayMs: number): number => {
  const lags = pushCases
    .filter(({ purpose }) => purpose === "prompt" || purpose === "late" || purpose === "never")
    .flatMap(({ pushes: [first], triggered }) =>
      first === undefined ? [] : [Math.max(0, first.at.earliestMs - triggered.latestMs)],
    )
    .toSorted((a, b) => a - b);
  const usualMs = (lags[Math.floor(lags.length * MOST)] ?? 0) - (lags[0] ?? 0);
  return Math.min(usualMs, firstDelayMs / 3);
};
