import type { PushCase } from "../judging/pushes/trace.ts";
import { watchStalls, type Clock } from "../world/clock.ts";

/** How late pushes may be in real time for any sender, because of sender, road, receiver and this machine. */
export interface Unrest extends Disposable {
  /** In milliseconds; nothing on a clock that is moved by hand. */
  readonly ofMs: (pushCases: readonly PushCase[]) => number;
}

/** Watches this process from now on, for as long as it is not disposed of. */
export const watchUnrest = (kind: Clock["kind"], firstDelayMs: number): Unrest => {
  if (kind === "virtual") return { ofMs: () => 0, [Symbol.dispose]: () => {} };
  const stalls = watchStalls();
  return {
    ofMs: (pushCases) => usualLagMs(pushCases, firstDelayMs) + stalls.longestMs(),
    [Symbol.dispose]: stalls.stop,
  };
};

/** The share of first pushes whose lag counts as usual. */
const MOST = 0.9;

/** How much later than others of them some first pushes are. */
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
