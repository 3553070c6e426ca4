import type { Reading } from "../world/clock.ts";
import type { Bracket } from "../world/exchange.ts";

/** By how much two clocks of one machine may have gone apart, in milliseconds, and as a part of what went by. */
const APART_MS = 1_000;
const APART_PART = 1 / 1_000;
/** The wall clock tells whole milliseconds. */
const COARSENESS_MS = 1;

/**
 * How much time went by between two processes, in milliseconds: as much as the wall clock and the machine's own clock
 * say, which seldom agree to the millisecond. Undefined where they are far apart: then the machine was started anew or
 * slept, its clock was set, or it is another machine, and nobody knows.
 */
export const elapsedBetween = (
  then: Reading,
  now: Reading,
): { readonly leastMs: number; readonly mostMs: number } | undefined => {
  const byWallMs = now.wallMs - then.wallMs;
  const byMachineMs = now.machineMs - then.machineMs;
  if (!(byWallMs >= 0) || !(byMachineMs >= 0)) return undefined;
  if (Math.abs(byWallMs - byMachineMs) > APART_MS + byMachineMs * APART_PART) return undefined;
  return {
    leastMs: Math.max(0, Math.min(byWallMs - COARSENESS_MS, byMachineMs)),
    mostMs: Math.max(byWallMs + COARSENESS_MS, byMachineMs),
  };
};

/** A stretch of an earlier process's time on the clock of this one; undefined where nobody knows how long ago it was. */
export const onThisClock = (at: Bracket, then: Reading, now: Reading): Bracket | undefined => {
  const elapsed = elapsedBetween(then, now);
  return elapsed === undefined
    ? undefined
    : {
        earliestMs: now.ownMs - elapsed.mostMs - (then.ownMs - at.earliestMs),
        latestMs: now.ownMs - elapsed.leastMs - (then.ownMs - at.latestMs),
      };
};
