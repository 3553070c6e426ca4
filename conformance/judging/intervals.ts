import type { TimeInterval } from "./interval.ts";
/** The same intervals in order, with overlaps merged. */
export const merged = (intervals: readonly TimeInterval[]): readonly TimeInterval[] => {
  const done: TimeInterval[] = [];
  for (const one of intervals.toSorted((a, b) => a.earliestMs - b.earliestMs)) {
    const last = done.at(-1);
    if (last !== undefined && one.earliestMs <= last.latestMs)
      done[done.length - 1] = { ...last, latestMs: Math.max(last.latestMs, one.latestMs) };
    else done.push(one);
  }
  return done;
};

/** What remains of an interval without these, which must be in order and disjoint. */
export const without = (whole: TimeInterval, intervals: readonly TimeInterval[]): readonly TimeInterval[] => {
  const left: TimeInterval[] = [];
  let fromMs = whole.earliestMs;
  for (const { earliestMs, latestMs } of intervals) {
    if (earliestMs > fromMs)
      left.push({ earliestMs: fromMs, latestMs: Math.min(earliestMs, whole.latestMs) });
    fromMs = Math.max(fromMs, latestMs);
    if (fromMs >= whole.latestMs) break;
  }
  if (fromMs < whole.latestMs) left.push({ earliestMs: fromMs, latestMs: whole.latestMs });
  return left.filter(({ earliestMs, latestMs }) => latestMs > earliestMs);
};

export const lengthMs = (intervals: readonly TimeInterval[]): number =>
  intervals.reduce((sum, { earliestMs, latestMs }) => sum + latestMs - earliestMs, 0);

/** Chance events are rare if they happen in less than one of a hundred cases. */
const RARE = 0.01;

/** Whether a count this high is rare given the expected one (upper tail of the Poisson distribution). */
export const isRare = (count: number, expected: number): boolean => {
  let term = Math.exp(-expected);
  let below = 0;
  for (let k = 0; k < count; k += 1) {
    below += term;
    term *= expected / (k + 1);
  }
  // If exp(-expected) underflows, the normal approximation is good enough.
  const tail = expected > 700 ? (count > expected + 2.33 * Math.sqrt(expected) ? 0 : 1) : 1 - below;
  return tail < RARE;
};
