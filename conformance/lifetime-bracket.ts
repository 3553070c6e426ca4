import { duration } from "./contract/duration.ts";
import type { Verdict } from "./contract/verdict.ts";

/** The two sides of a lifetime's end. */
export type Side = "alive" | "dead";

/** What the probes of one kind of credential have shown so far. Ages and distances in milliseconds. */
export interface Measured {
  acceptedUpToMs: number;
  refusedFromMs: number;
  /** How far from the end the nearest decisive probe of each side may have been at most. */
  readonly nearestMs: Record<Side, number>;
  /** How near it has to be, by what was probed. */
  readonly boundMs: Record<Side, number>;
}

export const nothingMeasured = (): Measured => ({
  acceptedUpToMs: 0,
  refusedFromMs: Infinity,
  nearestMs: { alive: Infinity, dead: Infinity },
  boundMs: { alive: 0, dead: 0 },
});

/** The least closeness that is asked for, in milliseconds: what a request takes on a good day. */
const LEAST_MS = 100;
const PART_OF_LIFETIME = 1 / 20;

/**
 * How near to the guard a lifetime's end has to be seen from either side, in milliseconds, for the lifetime to count
 * as kept: a refusal long after the end says nothing of one that comes a little late. As near as the guard is wide, but
 * no further off than a twentieth of the lifetime. Where the target does not tell its time, that twentieth has to do.
 */
export const closenessMs = (lifetimeMs: number, guardMs: number, isTold: boolean): number =>
  isTold
    ? Math.min(Math.max(guardMs, LEAST_MS), lifetimeMs * PART_OF_LIFETIME)
    : lifetimeMs * PART_OF_LIFETIME;

export const bracketFacts = (
  lifetimeMs: number,
  guardMs: number,
  { acceptedUpToMs, refusedFromMs }: Measured,
): Record<string, number> => ({
  lifetimeMs,
  guardMs,
  ...(acceptedUpToMs > 0 ? { acceptedUpToMs: Math.round(acceptedUpToMs) } : {}),
  ...(Number.isFinite(refusedFromMs) ? { refusedFromMs: Math.round(refusedFromMs) } : {}),
});

/** Leaves a verdict that passed as it is only where the end was seen from near by on each of these sides. */
export const unlessFar = (
  verdict: Verdict,
  name: string,
  sides: readonly Side[],
  { nearestMs, boundMs }: Measured,
  isTold: boolean,
): Verdict => {
  const far = sides.find((side) => !(nearestMs[side] <= boundMs[side]));
  if (verdict.kind !== "passed" || far === undefined) return verdict;
  return {
    kind: "inconclusive",
    reason: Number.isFinite(nearestMs[far])
      ? `the machine or the target was too slow: the ${name} was ${far === "alive" ? "last seen accepted" : "first seen refused"} up to ${duration(nearestMs[far])} ${far === "alive" ? "before" : "after"} its end, and only up to ${duration(boundMs[far])} says that the end is where it should be`
      : `the machine or the target was too slow: no probe of the ${name} was decisive on the ${far === "dead" ? "far" : "near"} side of its end`,
    settle: isTold
      ? "a machine with less else to do, a quicker connection to the target, or a greater tolerances.lifetimeGuardMs"
      : "hooks.clock.now in the profile, so that the target's time need not be guessed",
    cases: verdict.cases,
    ...(verdict.facts === undefined ? {} : { facts: verdict.facts }),
  };
};
