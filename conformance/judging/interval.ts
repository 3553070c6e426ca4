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

/** The greatest of any number of numbers, and at least `least`: a load has more notifications than a call takes arguments. */
export const greatest = (least: number, numbers: readonly number[]): number =>
  numbers.reduce((most, one) => Math.max(most, one), least);

/** The interval in which a moment is known to lie, in milliseconds on one clock. */
export interface TimeInterval {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** The same interval, later by `byMs` milliseconds. */
export const shift = ({ earliestMs, latestMs }: TimeInterval, byMs: number): TimeInterval => ({
  earliestMs: earliestMs + byMs,
  latestMs: latestMs + byMs,
});

export const overlap = (one: TimeInterval, other: TimeInterval): boolean =>
  one.earliestMs <= other.latestMs && one.latestMs >= other.earliestMs;

/** What remains of the interval from a moment on; its latest moment if the interval ends before. */
export const from = ({ earliestMs, latestMs }: TimeInterval, momentMs: number): TimeInterval => ({
  earliestMs: Math.max(earliestMs, Math.min(momentMs, latestMs)),
  latestMs,
});

/** The time from one moment to another; negative where the second may have come first. */
export const between = (before: TimeInterval, after: TimeInterval): TimeInterval => ({
  earliestMs: after.earliestMs - before.latestMs,
  latestMs: after.latestMs - before.earliestMs,
});

/** The minimum and maximum age, in milliseconds, of something issued in one interval and probed in another. */
export const ageBetween = (
  issued: TimeInterval,
  probed: TimeInterval,
): { readonly leastMs: number; readonly greatestMs: number } => {
  const { earliestMs, latestMs } = between(issued, probed);
  return { leastMs: Math.max(0, earliestMs), greatestMs: latestMs };
};
