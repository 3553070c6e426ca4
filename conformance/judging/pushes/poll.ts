import type { TimeInterval } from "../interval.ts";
/**
 * The shortest period between `minMs` and `maxMs`, in milliseconds, for which all moments can fall on the
 * ticks of one clock, as they do if a worker polls for due pushes. Undefined if there is none. Tries periods
 * in steps of `stepMs`; ignores moments whose uncertainty is at least a period.
 */
export const commonPeriodMs = (
  moments: readonly TimeInterval[],
  { minMs, maxMs, stepMs }: { readonly minMs: number; readonly maxMs: number; readonly stepMs: number },
): number | undefined => {
  for (let periodMs = Math.ceil(minMs / stepMs) * stepMs; periodMs <= maxMs; periodMs += stepMs)
    if (haveTick(moments, periodMs)) return periodMs;
  return undefined;
};

/** If any tick fits every interval, one at the end of some interval does. */
const haveTick = (moments: readonly TimeInterval[], periodMs: number): boolean => {
  const narrow = moments.filter(({ earliestMs, latestMs }) => latestMs - earliestMs < periodMs);
  return narrow.some(({ latestMs: tickMs }) =>
    narrow.every(({ earliestMs, latestMs }) => {
      const sinceMs = (((latestMs - tickMs) % periodMs) + periodMs) % periodMs;
      return sinceMs <= latestMs - earliestMs;
    }),
  );
};
