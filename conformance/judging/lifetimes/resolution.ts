import { duration } from "../../contract/duration.ts";
import type { Verdict } from "../../contract/verdict.ts";
import { tolerances } from "../tolerances.ts";
import { distanceFromEnd, sideOf, type Probe, type Side } from "./probe.ts";

/** How closely the end of a credential's lifetime is to be judged. */
export interface Precision {
  readonly lifetimeMs: number;
  readonly guardMs: number;
  /** The coarsest resolution that may still pass, where the profile sets one. */
  readonly resolutionMs: number | undefined;
  /** Whether the target tells its time. Where it does not, ages are only as certain as the run is short. */
  readonly isTold: boolean;
}

/** How close to the guard a probe comes where machine and target are quick, in milliseconds. */
const closenessMs = ({ lifetimeMs, guardMs }: Precision): number =>
  Math.min(
    Math.max(guardMs, tolerances.lifetimeCloseness.default),
    lifetimeMs * tolerances.lifetimeClosenessShare.default,
  );

/**
 * The coarsest resolution, in milliseconds, at which a lifetime is still judged: by default no finer than what a quick
 * machine reaches. Where the target does not tell its time, a twentieth
 * of the lifetime has to do.
 */
export const coarsestMs = (precision: Precision): number => {
  const { lifetimeMs, guardMs, resolutionMs, isTold } = precision;
  const quickMs =
    guardMs + (isTold ? closenessMs(precision) : lifetimeMs * tolerances.lifetimeClosenessShare.default);
  return resolutionMs ?? Math.max(quickMs, tolerances.lifetimeResolution.default({ lifetimeMs }));
};

/** How many tries of a probe are made as if machine and target were quick: one that was late may have been an exception. */
const STRICT_TRIES = 2;
/** Room before the guard by try, as parts of the closeness, where no delay was measured; the last has all there is. */
const ROOM = [0.15, 0.4, 0.7, 2, Infinity] as const;
/** The same once delays were measured: a quantile of them or, beyond 1, so many times the longest. */
const DELAYS = [0, 0, 0.75, 1, 1.25, 1.6] as const;
/** The part of the coarsest resolution that the room may take; the rest is for the probe itself. */
const MOST_ROOM = 0.9;

/** How many steps of room there are for probes that are made side by side and cannot learn from one another. */
export const roomSteps = ROOM.length;

/**
 * How long before the guard the nth try of a probe (from 0) is aimed, in milliseconds: at first as on a quick machine,
 * then by as much as earlier probes were late, and never so early that even a probe on time would be too coarse.
 */
export const roomMs = (precision: Precision, nth: number, delaysMs: readonly number[]): number => {
  const closeMs = closenessMs(precision);
  const mostMs = Math.min(
    Math.max(0, coarsestMs(precision) - precision.guardMs) * MOST_ROOM,
    precision.lifetimeMs / 4,
  );
  if (nth < STRICT_TRIES || delaysMs.length === 0) return Math.min(closeMs * (ROOM[nth] ?? Infinity), mostMs);
  const measuredMs = delayOf(delaysMs, DELAYS[nth] ?? DELAYS.at(-1) ?? 1);
  return Math.min(Math.max(closeMs * ROOM[2], measuredMs), mostMs);
};

const delayOf = (delaysMs: readonly number[], quantile: number): number => {
  const sorted = delaysMs.toSorted((a, b) => a - b);
  const at = Math.ceil(Math.min(quantile, 1) * sorted.length) - 1;
  return (sorted[Math.max(0, at)] ?? 0) * Math.max(1, quantile);
};

/**
 * Whether a probe that was aimed at the end came as close as its try may expect: the first tries have to be as close as
 * on a quick machine, later ones as close as what was measured allows.
 */
export const isCloseEnough = (
  side: Side,
  probe: Probe,
  precision: Precision,
  nth: number,
  aimedRoomMs: number,
): boolean => {
  const widthMs = probe.greatestMs - probe.leastMs;
  const allowedMs = nth < STRICT_TRIES ? 0 : aimedRoomMs + widthMs;
  return distanceFromEnd(side, probe) <= precision.guardMs + Math.max(closenessMs(precision), allowedMs);
};

/** What the probes of one kind of credential have shown. Ages and distances in milliseconds. */
interface Bracket {
  /** Least age of the oldest credential that worked; 0 where none did. */
  readonly acceptedUpToMs: number;
  /** Greatest age of the youngest credential that did not; Infinity where all worked. */
  readonly refusedFromMs: number;
  /** How far from its end the nearest decisive probe of each side may have been at most. */
  readonly nearestMs: Readonly<Record<Side, number>>;
}

export const bracketOf = (probes: readonly Probe[]): Bracket => {
  const nearest = (side: Side): number =>
    Math.min(...probes.filter((one) => sideOf(one) === side).map((one) => distanceFromEnd(side, one)));
  return {
    acceptedUpToMs: Math.max(0, ...probes.filter(({ works }) => works).map(({ leastMs }) => leastMs)),
    refusedFromMs: Math.min(...probes.filter(({ works }) => !works).map(({ greatestMs }) => greatestMs)),
    nearestMs: { alive: nearest("alive"), dead: nearest("dead") },
  };
};

/** The bracket as facts of a verdict. `resolutionMs`, where nothing broke, is by how much the end could be wrong unnoticed. */
export const bracketFacts = (
  { lifetimeMs, guardMs }: Pick<Precision, "lifetimeMs" | "guardMs">,
  sides: readonly Side[],
  probes: readonly Probe[],
): Record<string, number> => {
  const { acceptedUpToMs, refusedFromMs, nearestMs } = bracketOf(probes);
  const isBroken = probes.some((probe) => probe.works !== (sideOf(probe) === "alive"));
  const resolutionMs = isBroken ? Infinity : Math.max(...sides.map((side) => nearestMs[side]));
  return {
    lifetimeMs,
    guardMs,
    ...(acceptedUpToMs > 0 ? { acceptedUpToMs: Math.round(acceptedUpToMs) } : {}),
    ...(Number.isFinite(refusedFromMs) ? { refusedFromMs: Math.round(refusedFromMs) } : {}),
    ...(Number.isFinite(resolutionMs) ? { resolutionMs: Math.round(resolutionMs) } : {}),
  };
};

/** By how much a probe was later than aimed, in milliseconds. */
export interface Delay {
  /** From the time that it was to be sent at until the case woke. */
  readonly wakeMs: number;
  /** From there until its answer had come. */
  readonly answerMs: number;
}

/** A verdict that passed stays so only if the end was seen from near enough on each side that was judged. */
export const unlessTooCoarse = (
  verdict: Verdict,
  name: string,
  sides: readonly Side[],
  probes: readonly Probe[],
  delays: readonly Delay[],
  precisionOf: (lifetimeMs: number) => Precision,
): Verdict => {
  const coarsestOf = ({ lifetimeMs }: Probe): number => coarsestMs(precisionOf(lifetimeMs));
  const on = (side: Side): readonly Probe[] => probes.filter((probe) => sideOf(probe) === side);
  const unseen = sides.find(
    (side) => !on(side).some((probe) => distanceFromEnd(side, probe) <= coarsestOf(probe)),
  );
  if (verdict.kind !== "passed" || unseen === undefined) return verdict;
  const nearestMs = bracketOf(probes).nearestMs[unseen];
  const nearest = on(unseen).find((probe) => distanceFromEnd(unseen, probe) === nearestMs);
  return {
    kind: "inconclusive",
    reason:
      nearest === undefined
        ? `the machine or the target was too slow: no probe of the ${name} was decisive on the ${unseen === "dead" ? "far" : "near"} side of its end`
        : `the machine or the target was too slow: the ${name} was ${unseen === "alive" ? "last seen accepted" : "first seen refused"} up to ${duration(nearestMs)} ${unseen === "alive" ? "before" : "after"} its end, and an end that is wrong by more than ${duration(coarsestOf(nearest))} has to show`,
    settle: remedyFor(delays, precisionOf(1).isTold),
    cases: verdict.cases,
    ...(verdict.facts === undefined ? {} : { facts: verdict.facts }),
  };
};

/** What would help, by what took the time. */
const remedyFor = (delays: readonly Delay[], isTold: boolean): string => {
  if (!isTold) return "hooks.clock.now in the profile, so that the target's time need not be guessed";
  const wakeMs = Math.max(0, ...delays.map((delay) => delay.wakeMs));
  const answerMs = Math.max(0, ...delays.map((delay) => delay.answerMs));
  const cause =
    wakeMs >= answerMs
      ? `a quicker hooks.clock.advance or a machine with less else to do (cases woke up to ${duration(wakeMs)} late)`
      : `a quicker connection to the target (answers took up to ${duration(answerMs)})`;
  return `${cause}, or a greater tolerances.lifetimeResolutionMs`;
};
