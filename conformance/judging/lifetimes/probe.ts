import { duration, SECOND_MS } from "../../contract/duration.ts";
import { discard, fail, pass, type CaseVerdict } from "../case-verdict.ts";
import { ageBetween, type TimeInterval } from "../interval.ts";

const ROUND_SECONDS = 10;

/** The two sides of a lifetime's end. */
export type Side = "alive" | "dead";

/** The ages between which a credential was probed, its promised lifetime, and the guard around its end, in milliseconds. */
export interface Age {
  readonly leastMs: number;
  readonly greatestMs: number;
  readonly lifetimeMs: number;
  readonly guardMs: number;
  /** See Issued. */
  readonly cutMs?: number | undefined;
  /** By how much its service may have dated it back, in milliseconds. */
  readonly datedBackMs?: number | undefined;
}

export interface Probe extends Age {
  readonly works: boolean;
}

/** Something issued at a known time with a stated lifetime in milliseconds. */
export interface Issued {
  readonly issued: TimeInterval;
  readonly lifetimeMs: number;
  /** By how much the stated lifetime may have been cut, in milliseconds. */
  readonly cutMs?: number | undefined;
}

/**
 * By how much a lifetime that its service stated may have been cut, in milliseconds. A whole number of seconds may be
 * what was left when the answer was written, without the fraction: 3,599 for an hour, if the clock `runs` meanwhile.
 * A multiple of ten seconds is the lifetime that somebody configured: nothing is missing from it.
 */
export const cutFrom = (statedMs: number, runs: boolean): number => {
  const seconds = statedMs / SECOND_MS;
  return runs && Number.isInteger(seconds) && seconds % ROUND_SECONDS !== 0 ? SECOND_MS : 0;
};

/** What is known of the clock by which something was issued. */
export interface IssuingClock {
  readonly kind: "virtual" | "real";
  readonly isTold: boolean;
  readonly runs: () => boolean;
}

/**
 * By how much a service that keeps whole seconds may have dated back what it issued, in milliseconds: to the beginning of
 * the second, which is unknown if the target does not tell its time. Where the clock stands, credentials are issued at
 * the beginning of one; real time is read from this machine's clock, whose seconds are others, and the guard covers one.
 */
export const datedBackFrom = ({ earliestMs }: TimeInterval, clock: IssuingClock): number => {
  if (clock.kind === "real" || !clock.runs()) return 0;
  return clock.isTold ? earliestMs - Math.floor(earliestMs / SECOND_MS) * SECOND_MS : SECOND_MS;
};

/**
 * The guard around the end of a lifetime, within which nothing is decided, in milliseconds; at most a quarter of the
 * lifetime.
 */
export const guardFor = (lifetimeMs: number, usualMs: number): number => Math.min(usualMs, lifetimeMs / 4);

/**
 * The guard on one side of an end. On the dead side it covers what may have been cut from the stated lifetime; on the
 * alive side it comes before the end of a credential that was dated back.
 */
export const guardOn = (
  side: Side,
  { guardMs, cutMs = 0, datedBackMs = 0 }: Pick<Age, "guardMs" | "cutMs" | "datedBackMs">,
): number => (side === "dead" ? Math.max(guardMs, cutMs) : guardMs + datedBackMs);

export const ageAt = (
  { issued, lifetimeMs, cutMs }: Issued,
  at: TimeInterval,
  usualGuardMs: number,
  clock: IssuingClock,
): Age => ({
  ...ageBetween(issued, at),
  lifetimeMs,
  guardMs: guardFor(lifetimeMs, usualGuardMs),
  cutMs,
  datedBackMs: datedBackFrom(issued, clock),
});

/**
 * The side of its end on which a credential certainly was: alive only if even its maximum age is under the lifetime
 * less the guard, dead only if even its minimum age is over the lifetime plus the guard. Undefined in between, and if
 * the lifetime is not a positive finite number.
 */
export const sideOf = (age: Age): Side | undefined => {
  const { leastMs, greatestMs, lifetimeMs } = age;
  if (!(lifetimeMs > 0) || !Number.isFinite(lifetimeMs)) return undefined;
  if (greatestMs < lifetimeMs - guardOn("alive", age)) return "alive";
  // Clocks are read in whole milliseconds.
  return leastMs > lifetimeMs + guardOn("dead", age) - 1 ? "dead" : undefined;
};

/** Upper bound on a probe's distance from the end, in milliseconds. */
export const distanceFromEnd = (side: Side, { lifetimeMs, leastMs, greatestMs }: Age): number =>
  side === "alive" ? lifetimeMs - leastMs : greatestMs - lifetimeMs;

const promiseOf = (name: string, side: Side, lifetimeMs: number): string =>
  side === "alive"
    ? `the ${name} works for ${duration(lifetimeMs)} after issue`
    : `the ${name} is refused ${duration(lifetimeMs)} after issue`;

/** Judges one probe by the side it really was on. `inVain` is what it got if that was in vain and no refusal. */
export const judgeProbe = (name: string, probe: Probe, inVain = "refused"): CaseVerdict => {
  const side = sideOf(probe);
  if (side === undefined)
    return discard(
      `the ${name} was probed between ${duration(probe.leastMs)} and ${duration(probe.greatestMs)}, within the guard around the end`,
    );
  if (probe.works === (side === "alive")) return pass;
  return fail(
    promiseOf(name, side, probe.lifetimeMs),
    side === "alive"
      ? `${inVain} at an age of at most ${duration(probe.greatestMs)}`
      : `accepted at an age of at least ${duration(probe.leastMs)}`,
  );
};
