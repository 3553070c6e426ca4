import type { PushCase } from "../judging/pushes/trace.ts";
import { usualLagMs } from "../judging/pushes/usual-lag.ts";
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
