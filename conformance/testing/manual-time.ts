import type { RealTime } from "../world/clock.ts";

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
