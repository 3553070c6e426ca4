/** A stretch of the target's time that a moment lies in, in milliseconds. */
export interface Bracket {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** Where the target's clock stood at a moment of this machine's wall clock. */
export interface Stop {
  readonly wallMs: number;
  readonly target: Bracket;
}

/**
 * The target's time at moments of this machine's wall clock. Without any stop the two are the same
 * clock. Between two stops the target's time is known only to lie between theirs, unless it flowed
 * there as this machine's did; before the first one it flowed.
 */
export const targetTimeAt = (stops: readonly Stop[], wallMs: number): Bracket => {
  const [first] = stops;
  if (first === undefined) return { earliestMs: wallMs, latestMs: wallMs };
  if (wallMs <= first.wallMs) return shifted(first.target, wallMs - first.wallMs);
  const next = stops.findIndex((stop) => stop.wallMs >= wallMs);
  const before = stops[next === -1 ? stops.length - 1 : next - 1] ?? first;
  const after = stops[next];
  const earliestMs = before.target.earliestMs;
  if (after === undefined) return { earliestMs, latestMs: before.target.latestMs + (wallMs - before.wallMs) };
  return { earliestMs, latestMs: after.target.latestMs };
};

const shifted = ({ earliestMs, latestMs }: Bracket, byMs: number): Bracket => ({
  earliestMs: earliestMs + byMs,
  latestMs: latestMs + byMs,
});
