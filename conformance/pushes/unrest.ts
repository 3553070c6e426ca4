import type { Stall } from "../contract/push-ports.ts";
import type { PushCase } from "../judging/pushes/trace.ts";
import { usualLagMs } from "../judging/pushes/usual-lag.ts";
import { watchStalls, type Clock } from "../world/clock.ts";
import type { StopOptions } from "./state.ts";

/** How late any sender's pushes may be in real time, because of sender, network, receiver and this machine. */
export interface Unrest extends Disposable {
  /** In milliseconds; 0 if a hook moves the clock. */
  readonly ofMs: (pushCases: readonly PushCase[]) => number;
  /** When this process stalled, on a clock that reads `nowMs` now; never if a hook moves the clock. */
  readonly stallsBy: (nowMs: number) => readonly Stall[];
}

/** Watches this process for stalls until disposed. */
export const watchUnrest = (
  kind: Clock["kind"],
  { firstDelayMs, latenessMs }: Pick<StopOptions, "firstDelayMs" | "latenessMs">,
): Unrest => {
  if (kind === "virtual") return { ofMs: () => 0, stallsBy: () => [], [Symbol.dispose]: () => {} };
  const stalls = watchStalls(latenessMs);
  return {
    ofMs: (pushCases) => usualLagMs(pushCases, firstDelayMs) + stalls.mostMs(),
    stallsBy: stalls.by,
    [Symbol.dispose]: stalls.stop,
  };
};
