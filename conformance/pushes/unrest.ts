import type { PushCase } from "../judging/pushes/trace.ts";
import { usualLagMs } from "../judging/pushes/usual-lag.ts";
import { watchStalls, type Clock } from "../world/clock.ts";
import type { StopOptions } from "./clock-stops.ts";

/** How late any sender's pushes may be in real time, because of sender, network, receiver and this machine. */
export interface Unrest extends Disposable {
  /** In milliseconds; 0 if a hook moves the clock. */
  readonly ofMs: (pushCases: readonly PushCase[]) => number;
}

/** Watches this process for stalls until disposed. */
export const watchUnrest = (
  kind: Clock["kind"],
  { firstDelayMs, latenessMs }: Pick<StopOptions, "firstDelayMs" | "latenessMs">,
): Unrest => {
  if (kind === "virtual") return { ofMs: () => 0, [Symbol.dispose]: () => {} };
  const stalls = watchStalls(latenessMs);
  return {
    ofMs: (pushCases) => usualLagMs(pushCases, firstDelayMs) + stalls.mostMs(),
    [Symbol.dispose]: stalls.stop,
  };
};
