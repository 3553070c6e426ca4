import { duration } from "../../contract/duration.ts";
import type { Explanation } from "./explain.ts";
import { pollPeriodMs, type Polled } from "./poll.ts";
import type { Reading } from "./readings.ts";
import type { Explained } from "./sender.ts";
import type { PushTrace } from "./trace.ts";
import type { TimeInterval } from "../interval.ts";

/**
 * What is seen of a sender that seems to poll for due pushes: only late, by less than the first delay, and always on a tick
 * of one clock, the first one after a push was due. Undefined if lateness does not explain all, or no clock explains it.
 */
export const polledBy = (
  { hypothesis: { reading }, timed, flawed }: Explained,
  trace: PushTrace,
): string | undefined => {
  const firstMs = trace.limits.pushDelaysMs[0] ?? 0;
  // What follows a slow failure tells only where all else is in time: its moments are known less exactly.
  const plainFlawed = flawed.filter((one) => !isSlow(one));
  const late = (plainFlawed.length > 0 ? plainFlawed : flawed).flatMap(({ flaws }) => flaws);
  const [worst] = late.toSorted((a, b) => b.byMs - a.byMs);
  if (worst === undefined || late.some(({ kind, byMs }) => kind !== "late" || byMs > firstMs))
    return undefined;
  const [slow, plain] = [timed.filter(isSlow), timed.filter((one) => !isSlow(one))];
  const lateSlow = plainFlawed.length > 0 ? [] : slow.filter(({ flaws }) => flaws.length > 0);
  // A single late push may be late by a tick at most; of several, one may have waited for its turn on the tick.
  const minMs = worst.byMs - (late.length > 1 ? lagOf(trace) : 0);
  const beside = lateSlow.flatMap(({ journal }) => afterEach(reading, journal.arrivals, lagOf(trace)));
  const periodMs = (reading.from === "event" ? [false, true] : [reading.from === "previous"])
    .map((isChained) =>
      pollPeriodMs([...plain.flatMap((one) => polledIn(one, reading, isChained, trace)), ...beside], {
        minMs,
        maxMs: firstMs,
        // A loop sleeps a round time and works for some, so that its period is not round, and adds up over the run.
        stepMs: firstMs / (trace.isMovedOnly === true ? 60 : 1_500),
        isExact: trace.isMovedOnly === true,
      }),
    )
    .find((one) => one !== undefined);
  if (periodMs === undefined) return undefined;
  if (beside.some(({ pushes }) => pushes.some(({ at }) => at.latestMs - at.earliestMs >= periodMs)))
    return undefined;
  return `pushes follow ${reading.name}, but up to ${duration(worst.byMs)} late, as if the sender looks for due pushes every ${duration(Number(periodMs.toPrecision(3)))} or more; the document does not say how late a push may be`;
};

const isSlow = ({ journal: { pushCase } }: Explanation): boolean =>
  ["silent", "refused"].includes(pushCase.purpose);

/** A sender takes a while for all pushes of a tick, and each takes a while to arrive. */
const lagOf = ({ isMovedOnly, earlyGuardMs }: PushTrace): number => (isMovedOnly === true ? 0 : earlyGuardMs);

const sooner = ({ earliestMs, latestMs }: TimeInterval, byMs: number): TimeInterval => ({
  earliestMs: earliestMs - byMs,
  latestMs,
});

/** A sender that counts on from a late push (chained) adds the difference between two delays from the event. */
const delayOf = ({ from, delaysMs }: Reading, index: number, isChained: boolean): number =>
  (delaysMs[index] ?? 0) - (from === "event" && isChained ? (delaysMs[index - 1] ?? 0) : 0);

/** The retries of a notification, as a polling sender notices them. */
const polledIn = (
  { journal: { event, arrivals } }: Explanation,
  reading: Reading,
  isChained: boolean,
  trace: PushTrace,
): readonly Polled[] => {
  const [first, ...retries] = arrivals;
  if (first === undefined) return [];
  const from = reading.from === "event" && !isChained ? event : first.at;
  const pushes = retries.map(({ at }, index) => ({
    at: sooner(at, lagOf(trace)),
    delayMs: delayOf(reading, index + 1, isChained),
  }));
  return [{ from: sooner(from, lagOf(trace)), isChained, pushes }];
};

/** Each retry by itself, counted from some moment between the start and the end of the push before. */
const afterEach = (
  reading: Reading,
  arrivals: Explanation["journal"]["arrivals"],
  lagMs: number,
): readonly Polled[] =>
  arrivals.slice(1).flatMap(({ at }, index): Polled[] => {
    const before = arrivals[index];
    if (before === undefined) return [];
    const failed = { earliestMs: before.at.earliestMs, latestMs: (before.ended ?? before.at).latestMs };
    const pushes = [{ at: sooner(at, lagMs), delayMs: delayOf(reading, index + 1, true) }];
    return [{ from: sooner(failed, lagMs), isChained: true, pushes }];
  });
