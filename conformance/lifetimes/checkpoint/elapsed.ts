import type { TimeInterval } from "../../judging/interval.ts";
import type { Reading } from "../../world/clock.ts";

/** How far two clocks of one machine may drift apart, in milliseconds, and as a share of the elapsed time. */
const APART_MS = 1_000;
const APART_PART = 1 / 1_000;
/** The wall clock counts whole milliseconds. */
const COARSENESS_MS = 1;

/**
 * The time between two processes, in milliseconds, by the wall clock and the machine's monotonic clock, which rarely
 * agree to the millisecond. Undefined if they are far apart: the machine was restarted or slept, its clock was set, or
 * it is another machine.
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

/** Converts an interval of an earlier process to this process's clock; undefined if the time between them is unknown. */
export const onThisClock = (at: TimeInterval, then: Reading, now: Reading): TimeInterval | undefined => {
  const elapsed = elapsedBetween(then, now);
  return elapsed === undefined
    ? undefined
    : {
        earliestMs: now.ownMs - elapsed.mostMs - (then.ownMs - at.earliestMs),
        latestMs: now.ownMs - elapsed.leastMs - (then.ownMs - at.latestMs),
      };
};
