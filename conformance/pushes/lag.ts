import { monotonicMs } from "../world/clock.ts";
import { longestLagMs } from "../judging/pushes/lag.ts";
import { isSettled } from "./advance.ts";
import type { RunState } from "./state.ts";
import { sorted } from "./assign.ts";
import { readingsLeft } from "./windows.ts";

/** How long an outage goes on in real time, as a multiple of the longest that a push was on its way, and how much longer. */
const HOLD = { factor: 2, moreMs: 100 } as const;
/** The longest that it goes on, in milliseconds. */
const LONGEST_HOLD_MS = 10_000;

/** Whether the target said that nothing is in flight, and was always right when it did. */
export const isTrusted = (state: RunState): boolean => isSettled(state) && !state.hasMisreported;

/** The longest that a push has been on its way in real time so far, in milliseconds. */
const lagMsOf = (state: RunState): number => {
  const { pushCases } = sorted(state);
  const { limits, acknowledgedStatus } = state.options;
  return longestLagMs(
    { pushCases, limits, acknowledgedStatus },
    readingsLeft(state),
    state.reached,
    (receiverMs) => receiverMs - state.receiverAheadMs,
  );
};

/** The same once all is over; undefined if the target always reported what was in flight. */
export const finalLagMs = (state: RunState, isAwaited: boolean): number | undefined =>
  state.timeline.kind === "real" || (isAwaited && !state.hasMisreported) ? undefined : lagMsOf(state);

/**
 * Lets what is due arrive although it is slow in real time: waits for `forMs`, or longer than any push has taken so far.
 * Returns for how long, in milliseconds; undefined if the target reports that nothing is in flight.
 */
export const outlastLag = async (
  state: RunState,
  forMs = HOLD.factor * lagMsOf(state) + HOLD.moreMs,
): Promise<number | undefined> => {
  if (isTrusted(state)) return undefined;
  const holdMs = Math.min(forMs, LONGEST_HOLD_MS);
  const startedMs = monotonicMs();
  const passedMs = (): number => monotonicMs() - startedMs;
  while (passedMs() < holdMs) await state.collector.collectMore(holdMs - passedMs());
  return passedMs();
};
