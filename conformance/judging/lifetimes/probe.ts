import { duration } from "../../contract/duration.ts";
import { discard, fail, pass, type CaseVerdict } from "../case-verdict.ts";
import { ageBetween, type TimeInterval } from "../interval.ts";

/** The two sides of a lifetime's end. */
export type Side = "alive" | "dead";

/** Between which ages a credential was looked at, its promised lifetime, and the guard around its end. In milliseconds. */
export interface Age {
  readonly leastMs: number;
  readonly greatestMs: number;
  readonly lifetimeMs: number;
  readonly guardMs: number;
}

export interface Probe extends Age {
  readonly works: boolean;
}

/** Something that was issued at a known time and lives for a stated one, both in milliseconds. */
export interface Issued {
  readonly issued: TimeInterval;
  readonly lifetimeMs: number;
}

/** How near to the end of a lifetime nothing is said, in milliseconds. A short life keeps at least three quarters of itself. */
export const guardFor = (lifetimeMs: number, usualMs: number): number => Math.min(usualMs, lifetimeMs / 4);

export const ageAt = ({ issued, lifetimeMs }: Issued, at: TimeInterval, usualGuardMs: number): Age => ({
  ...ageBetween(issued, at),
  lifetimeMs,
  guardMs: guardFor(lifetimeMs, usualGuardMs),
});

/**
 * On which side of its end a credential certainly was: alive only if even its greatest possible age is under the
 * lifetime less the guard, dead only if even its least possible age is over it plus the guard. Undefined in between,
 * and where the lifetime is not a number of milliseconds.
 */
export const sideOf = ({ leastMs, greatestMs, lifetimeMs, guardMs }: Age): Side | undefined => {
  if (!(lifetimeMs > 0) || !Number.isFinite(lifetimeMs)) return undefined;
  if (greatestMs < lifetimeMs - guardMs) return "alive";
  // Clocks are read in whole milliseconds.
  return leastMs > lifetimeMs + guardMs - 1 ? "dead" : undefined;
};

/** How far from the end a probe on this side may have been at most, in milliseconds. */
export const distanceFromEnd = (side: Side, { lifetimeMs, leastMs, greatestMs }: Age): number =>
  side === "alive" ? lifetimeMs - leastMs : greatestMs - lifetimeMs;

export const promiseOf = (name: string, side: Side, lifetimeMs: number): string =>
  side === "alive"
    ? `the ${name} works for ${duration(lifetimeMs)} from its issue`
    : `the ${name} is refused once ${duration(lifetimeMs)} from its issue are over`;

/** Judges one probe by the side that it was really on, whichever side it was meant for. */
export const judgeProbe = (name: string, probe: Probe, remark = ""): CaseVerdict => {
  const side = sideOf(probe);
  if (side === undefined)
    return discard(
      `probed between ${duration(probe.leastMs)} and ${duration(probe.greatestMs)}, inside the guard around the end`,
    );
  if (probe.works === (side === "alive")) return pass;
  return fail(
    promiseOf(name, side, probe.lifetimeMs),
    side === "alive"
      ? `refused at an age of at most ${duration(probe.greatestMs)}${remark}`
      : `accepted at an age of at least ${duration(probe.leastMs)}${remark}`,
  );
};
