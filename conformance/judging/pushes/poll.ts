import type { TimeInterval } from "../interval.ts";
/**
 * The shortest period, in milliseconds, with which moments may all fall on the ticks of one clock, as the
 * pushes of a worker do that looks from time to time for what is due; undefined where there is none of
 * `leastMs` to `mostMs`. Tries periods in steps of `stepMs`. A moment that is known no better than to a
 * period speaks against none.
 */
export const commonPeriodMs = (
  moments: readonly TimeInterval[],
  { leastMs, mostMs, stepMs }: { readonly leastMs: number; readonly mostMs: number; readonly stepMs: number },
): number | undefined => {
  for (let periodMs = Math.ceil(leastMs / stepMs) * stepMs; periodMs <= mostMs; periodMs += stepMs)
    if (haveTick(moments, periodMs)) return periodMs;
  return undefined;
};

/** Where there is a tick at all that lies in every bracket, there is one at the end of a bracket. */
const haveTick = (moments: readonly TimeInterval[], periodMs: number): boolean => {
  const narrow = moments.filter(({ earliestMs, latestMs }) => latestMs - earliestMs < periodMs);
  return narrow.some(({ latestMs: tickMs }) =>
    narrow.every(({ earliestMs, latestMs }) => {
      const sinceMs = (((latestMs - tickMs) % periodMs) + periodMs) % periodMs;
      return sinceMs <= latestMs - earliestMs;
    }),
  );
};
