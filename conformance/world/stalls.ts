import type { Stall } from "../contract/push-ports.ts";

/** How often the process is asked to run. Shorter delays are a timer's own. */
export const STALL_STEP_MS = 20;

/** Stalls within this time are kept as one: a run may last for days. */
const KEPT_APART_MS = 1_000;

/**
 * Adds up stalls from the moments, in milliseconds, at which the process ran though asked for every step: within a span of
 * `withinMs` it may have done anything that much later, since one push takes several turns of its event loop. A stall
 * that is longer than the span counts whole.
 */
export const sumOfStalls = (withinMs: number, startMs: number) => {
  let recent: readonly { readonly atMs: number; readonly forMs: number }[] = [];
  const all: Stall[] = [];
  let lastMs = startMs;
  let mostMs = 0;
  const keep = (stall: Stall): void => {
    const before = all.at(-1);
    if (before === undefined || stall.latestMs - before.earliestMs > KEPT_APART_MS) all.push(stall);
    else all[all.length - 1] = { ...before, latestMs: stall.latestMs, forMs: before.forMs + stall.forMs };
  };
  return {
    ranAt: (nowMs: number): void => {
      const earliestMs = lastMs;
      const forMs = nowMs - lastMs - STALL_STEP_MS;
      lastMs = nowMs;
      if (forMs < STALL_STEP_MS) return;
      keep({ earliestMs, latestMs: nowMs, forMs });
      recent = [...recent.filter(({ atMs }) => atMs > nowMs - withinMs), { atMs: nowMs, forMs }];
      mostMs = Math.max(
        mostMs,
        recent.reduce((sum, stall) => sum + stall.forMs, 0),
      );
    },
    mostMs: (): number => mostMs,
    all: (): readonly Stall[] => all,
  };
};
