import type { RealTime } from "../world/clock.ts";

/** This machine's time as a test moves it: each pause moves it on, and returns at once. */
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
