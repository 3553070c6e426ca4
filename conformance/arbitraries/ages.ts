import fc from "fast-check";
import { DAY_MS } from "../contract/duration.ts";

/** An age to probe a credential at: the side of its lifetime's end, and the distance from it. */
export interface ProbeAge {
  readonly side: "alive" | "dead";
  /** Distance from the end of the lifetime, beyond the guard, in milliseconds. */
  readonly distanceMs: number;
}

/** As milliseconds in 32 bits, one of two ages this far apart is negative. */
export const MONTH_MS = 30 * DAY_MS;

/**
 * So many ages on each side of a lifetime, beside the end itself but biased to it: right at the guard, seconds and
 * minutes away, a fraction of the lifetime away, and (dead side) several lifetimes and, in addition, a month later.
 * `farthestMs` limits how long after the end a probe may lie in real time.
 */
export const probeAges = (
  lifetimeMs: number,
  guardMs: number,
  seed: number,
  count: number,
  farthestMs: number,
): readonly ProbeAge[] => {
  const span = Math.max(1, lifetimeMs - guardMs);
  // Differences of a small part of the guard prove nothing more, and would each cost a move of the clock.
  const gridMs = Math.max(1, guardMs / 2);
  const onGrid = (distanceMs: number): number =>
    distanceMs === 0 ? 0 : Math.max(1, Math.floor(distanceMs / gridMs)) * gridMs;
  const near = fc.integer({ min: 0, max: Math.floor(Math.min(2_000, span * 0.01)) });
  const middling = fc.integer({ min: 0, max: Math.floor(Math.min(120_000, span * 0.2)) });
  const aliveDistance = fc.oneof(
    { weight: 3, arbitrary: near },
    { weight: 2, arbitrary: middling },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: Math.floor(span) }) },
  );
  const far = (most: number): fc.Arbitrary<number> =>
    fc.integer({ min: 0, max: Math.floor(Math.min(most, farthestMs)) });
  const deadDistance = fc.oneof(
    { weight: 3, arbitrary: far(2_000) },
    { weight: 2, arbitrary: far(120_000) },
    { weight: 2, arbitrary: far(lifetimeMs * 3) },
  );
  const sample = (distance: fc.Arbitrary<number>, salt: number): readonly number[] =>
    fc.sample(distance, { seed: seed + salt, numRuns: count });
  const on = (side: ProbeAge["side"], distances: readonly number[]): ProbeAge[] =>
    distances.map((distanceMs) => ({ side, distanceMs: onGrid(distanceMs) }));
  const month = farthestMs >= MONTH_MS && count > 0 ? [MONTH_MS] : [];
  return [...on("alive", sample(aliveDistance, 0)), ...on("dead", [...month, ...sample(deadDistance, 1)])];
};
