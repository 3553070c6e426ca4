import type { PushCase } from "../judging/pushes/trace.ts";
import { watchStalls, type Clock } from "../world/clock.ts";

/** How late any sender's pushes may be in real time, because of sender, network, receiver and this machine. */
export interface Unrest extends Disposable {
  /** In milliseconds; 0 if a hook moves the clock. */
  readonly ofMs: (pushCases: readonly PushCase[]) => number;
}

/** Watches this process for stalls until disposed. */
export const watchUnrest = (kind: Clock["kind"], firstDelayMs: number): Unrest => {
  if (kind === "virtual") return { ofMs: () => 0, [Symbol.dispose]: () => {} };
  const stalls = watchStalls();
  return {
    ofMs: (pushCases) => usualLagMs(pushCases, firstDelayMs) + stalls.longestMs(),
    [Symbol.dispose]: stalls.stop,
  };
};

/** The quantile of first-push lags that counts as usual. */
const MOST = 0.9;

/** How much later than the earliest of them most first pushes are, in milliseconds. */
const usualLagMs = (pushCases: readonly PushCase[], firstDelayMs: number): number => {
  const lags = pushCases
    .filter(({ purpose }) => purpose === "prompt" || purpose === "kind" || purpose === "never")
    .flatMap(({ pushes: [first], triggered }) =>
      first === undefined ? [] : [Math.max(0, first.at.earliestMs - triggered.latestMs)],
    )
    .toSorted((a, b) => a - b);
  const usualMs = (lags[Math.floor(lags.length * MOST)] ?? 0) - (lags[0] ?? 0);
  return Math.min(usualMs, firstDelayMs / 3);
};
