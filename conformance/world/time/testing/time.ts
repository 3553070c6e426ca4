import type { TimeInterval } from "../../../judging/interval.ts";
import { movedClock } from "../moved-clock.ts";
import type { MovedTime } from "../mover.ts";
import type { RealTime } from "../../clock.ts";

/** This machine's time under a test's control: each pause advances it and returns at once. */
export const manualTime = (): RealTime & { readonly pauses: readonly number[] } => {
  const pauses: number[] = [];
  let nowMs = 0;
  return {
    pauses,
    nowMs: () => nowMs,
    pause: async (durationMs, signal) => {
      signal?.throwIfAborted();
      pauses.push(durationMs);
      nowMs += durationMs;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
};

/** A target's clock that moves as requested, and records each advance. */
export const target = (replaces: Partial<MovedTime> = {}) => {
  const state = { nowMs: 1_000_000, inFlight: 0, advances: [] as number[] };
  const interval = (): TimeInterval => ({ earliestMs: state.nowMs, latestMs: state.nowMs });
  const time: MovedTime = {
    now: () => Promise.resolve(interval()),
    advance: (durationMs) => {
      state.advances.push(durationMs);
      state.nowMs += durationMs;
      return Promise.resolve(interval());
    },
    inFlight: () => state.inFlight,
    ...replaces,
  };
  return { state, clocks: movedClock(time) };
};
