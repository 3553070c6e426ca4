/** How often the process is asked to run. Shorter delays are a timer's own. */
export const STALL_STEP_MS = 20;

/**
 * Adds up stalls from the moments, in milliseconds, at which the process ran though asked for every step: within a span of
 * `withinMs` it may have done anything that much later, since one push takes several turns of its event loop. A stall
 * that is longer than the span counts whole.
 */
export const sumOfStalls = (withinMs: number, startMs: number) => {
  let stalls: readonly { readonly atMs: number; readonly forMs: number }[] = [];
  let lastMs = startMs;
  let mostMs = 0;
  return {
    ranAt: (nowMs: number): void => {
      const forMs = nowMs - lastMs - STALL_STEP_MS;
      lastMs = nowMs;
      if (forMs < STALL_STEP_MS) return;
      stalls = [...stalls.filter(({ atMs }) => atMs > nowMs - withinMs), { atMs: nowMs, forMs }];
      mostMs = Math.max(
        mostMs,
        stalls.reduce((sum, stall) => sum + stall.forMs, 0),
      );
    },
    mostMs: (): number => mostMs,
  };
};
