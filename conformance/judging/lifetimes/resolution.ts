import { duration } from "../../contract/duration.ts";
import type { Verdict } from "../../contract/verdict.ts";
import { tolerances } from "../tolerances.ts";
import { distanceFromEnd, guardOn, sideOf, type Probe, type Side } from "./probe.ts";

/** How closely the end of a credential's lifetime is judged. */
export interface Precision {
  readonly lifetimeMs: number;
  readonly guardMs: number;
  /** The coarsest resolution that may pass, if the profile sets one. */
  readonly resolutionMs: number | undefined;
  /** See Age. */
  readonly datedBackMs?: number | undefined;
  /** Whether the target tells its time. If not, ages are only as certain as the run is short. */
  readonly isTold: boolean;
}

/** How close to the guard a probe comes if machine and target are quick, in milliseconds. */
const closenessMs = ({ lifetimeMs, guardMs }: Precision): number =>
  Math.min(
    Math.max(guardMs, tolerances.lifetimeCloseness.default),
    lifetimeMs * tolerances.lifetimeClosenessShare.default,
  );

/**
 * The coarsest resolution at which a lifetime is still judged, in milliseconds: by default no finer than a quick
 * machine reaches, and a twentieth of the lifetime, at most an hour, if the target does not tell its time.
 */
export const coarsestMs = (precision: Precision): number => {
  const { lifetimeMs, guardMs, resolutionMs, isTold } = precision;
  const untoldMs = Math.min(
    lifetimeMs * tolerances.lifetimeClosenessShare.default,
    tolerances.lifetimeUntold.default,
  );
  const quickMs = guardMs + (isTold ? closenessMs(precision) : untoldMs);
  return resolutionMs ?? Math.max(quickMs, tolerances.lifetimeResolution.default({ lifetimeMs }));
};

/** Room before the guard by play, where the clock runs and no delay has been measured, in multiples of the closeness; the last takes all there is. */
const ROOM = [0.15, 0.4, 0.7, 2, Infinity] as const;
/** The same once delays were measured: a quantile of them or, beyond 1, a multiple of the longest. */
const DELAYS = [0.9, 1, 1.25, 1.6] as const;
/** So many delays are the latest. */
const LATEST = 50;
/** The share of the coarsest resolution that the room may take; the rest is for the probe itself. */
const MOST_ROOM = 0.9;

/** How many probes aim at an end at the same time if a play cannot be repeated. */
export const roomSteps = ROOM.length;

/**
 * How long before the guard to aim the nth play of a probe (from 0), in whole milliseconds: by how late the latest probes
 * were, but never so early that even a punctual probe would be too coarse. Time stands if there are no delays.
 */
export const roomMs = (precision: Precision, nth: number, delays: readonly Delay[] | undefined): number => {
  // Clocks are read in whole milliseconds.
  if (delays === undefined) return 2 ** nth;
  const closeMs = closenessMs(precision);
  const mostMs = Math.min(
    Math.max(0, coarsestMs(precision) - guardOn("alive", precision)) * MOST_ROOM,
    precision.lifetimeMs / 4,
  );
  const wantedMs =
    delays.length === 0
      ? closeMs * (ROOM[nth] ?? Infinity)
      : Math.max(closeMs * ROOM[0], delayOf(delays.slice(-LATEST), DELAYS[nth] ?? DELAYS.at(-1) ?? 1));
  return Math.floor(Math.min(wantedMs, mostMs));
};

const delayOf = (delays: readonly Delay[], quantile: number): number => {
  const sorted = delays.map(({ wakeMs, answerMs }) => wakeMs + answerMs).toSorted((a, b) => a - b);
  const at = Math.ceil(Math.min(quantile, 1) * sorted.length) - 1;
  return (sorted[Math.max(0, at)] ?? 0) * Math.max(1, quantile);
};

/**
 * Whether a probe came as close to the end as it should: at first as close as on a quick machine, played again as close
 * as the delays allow.
 */
export const isCloseEnough = (
  side: Side,
  probe: Probe,
  precision: Precision,
  nth: number,
  delays: readonly Delay[],
): boolean => {
  const widthMs = probe.greatestMs - probe.leastMs;
  const allowedMs = nth > 0 ? roomMs(precision, nth, delays) + widthMs : 0;
  return distanceFromEnd(side, probe) <= guardOn(side, probe) + Math.max(closenessMs(precision), allowedMs);
};

/** The decisive probes on one side of the end, the nearest first. */
const nearestOn = (side: Side, probes: readonly Probe[]): readonly Probe[] =>
  probes
    .filter((one) => sideOf(one) === side)
    .toSorted((a, b) => distanceFromEnd(side, a) - distanceFromEnd(side, b));

/**
 * What the probes of one kind of credential have shown, as facts of a verdict. Unless something broke, `resolutionMs`
 * says how wrong the end could be without being noticed.
 */
export const bracketFacts = (
  { lifetimeMs, guardMs }: Pick<Precision, "lifetimeMs" | "guardMs">,
  sides: readonly Side[],
  probes: readonly Probe[],
): Record<string, number> => {
  const [accepted, refused] = [probes.filter(({ works }) => works), probes.filter(({ works }) => !works)];
  const acceptedUpToMs = Math.max(0, ...accepted.map(({ leastMs }) => leastMs));
  const refusedFromMs = Math.min(...refused.map(({ greatestMs }) => greatestMs));
  const isBroken = probes.some((probe) => probe.works !== (sideOf(probe) === "alive"));
  const nearestMs = sides.map((side) => {
    const [nearest] = nearestOn(side, probes);
    return nearest === undefined ? Infinity : distanceFromEnd(side, nearest);
  });
  const resolutionMs = isBroken ? Infinity : Math.max(...nearestMs);
  return {
    lifetimeMs,
    guardMs,
    ...(acceptedUpToMs > 0 ? { acceptedUpToMs: Math.round(acceptedUpToMs) } : {}),
    ...(Number.isFinite(refusedFromMs) ? { refusedFromMs: Math.round(refusedFromMs) } : {}),
    ...(Number.isFinite(resolutionMs) ? { resolutionMs: Math.round(resolutionMs) } : {}),
  };
};

/** How much later than planned a probe was, in milliseconds. */
export interface Delay {
  /** From the planned sending time until the case woke. */
  readonly wakeMs: number;
  /** From waking until the answer arrived. */
  readonly answerMs: number;
}

/** Makes a passed verdict inconclusive unless a probe came near enough to the end on each judged side. */
export const unlessTooCoarse = (
  verdict: Verdict,
  name: string,
  sides: readonly Side[],
  probes: readonly Probe[],
  delays: readonly Delay[],
  precisionOf: (lifetimeMs: number) => Precision,
): Verdict => {
  const coarsestOf = (side: Side, probe: Probe): number =>
    coarsestMs({ ...precisionOf(probe.lifetimeMs), guardMs: guardOn(side, probe) });
  const unseen = sides.find(
    (side) => !nearestOn(side, probes).some((one) => distanceFromEnd(side, one) <= coarsestOf(side, one)),
  );
  if (verdict.kind !== "passed" || unseen === undefined) return verdict;
  const [nearest] = nearestOn(unseen, probes);
  const when = unseen === "alive" ? "before" : "after";
  const seen = unseen === "alive" ? "last seen accepted" : "first seen refused";
  return {
    kind: "inconclusive",
    reason:
      nearest === undefined
        ? `the machine or the target was too slow: no decisive probe of the ${name} was made ${when} its end`
        : `the machine or the target was too slow: the ${name} was ${seen} up to ${duration(distanceFromEnd(unseen, nearest))} ${when} its end, but the run must be able to detect an error of more than ${duration(coarsestOf(unseen, nearest))}`,
    settle: remedyFor(delays, precisionOf(1).isTold),
    cases: verdict.cases,
    ...(verdict.facts === undefined ? {} : { facts: verdict.facts }),
  };
};

/** The remedy, depending on what took the time. */
const remedyFor = (delays: readonly Delay[], isTold: boolean): string => {
  if (!isTold) return "hooks.clock.now in the profile, so that the target's time is known";
  const wakeMs = Math.max(0, ...delays.map((delay) => delay.wakeMs));
  const answerMs = Math.max(0, ...delays.map((delay) => delay.answerMs));
  const cause =
    wakeMs >= answerMs
      ? `a faster hooks.clock.advance or a less busy machine (cases resumed up to ${duration(wakeMs)} late)`
      : `a faster connection to the target (answers took up to ${duration(answerMs)})`;
  return `${cause}, or a larger tolerances.lifetimeResolutionMs`;
};
