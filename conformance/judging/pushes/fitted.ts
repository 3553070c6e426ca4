import { greatest } from "../greatest.ts";
import type { TimeInterval } from "../interval.ts";
import { tolerances } from "../tolerances.ts";
import { readingsOf, type Reading, type ReadingName, dueOf } from "./readings.ts";
import type { PushCase, PushTrace } from "./trace.ts";
import { pushedOf } from "./finding.ts";
import { fitOf, fits, type Fit, type FitOptions } from "./fits.ts";
import { fromTheirTurn, hasWaited } from "./turns.ts";
import { pollPeriodMs, type Polled } from "./poll.ts";

/** Notifications whose pushes show the schedule: each push failed at once, until acknowledged if ever. */
export const timedCases = (pushRun: TimedTrace): readonly PushCase[] =>
  pushedOf({ pushCases: fromTheirTurn(pushRun) }, "never", "late");

export type TimedTrace = Pick<PushTrace, "pushCases" | "limits" | "acknowledgedStatus">;

export const optionsFor = (pushCase: PushCase, pushRun: PushTrace): FitOptions => ({
  latenessMs: pushRun.latenessMs,
  earlyGuardMs: pushRun.earlyGuardMs,
  watchedUntil: pushRun.watchedUntil,
  isComplete: pushCase.purpose === "never",
  firstLatenessMs:
    pushRun.firstLatenessMs ??
    tolerances.firstPushLatenessShare.default * (pushRun.limits.pushDelaysMs[0] ?? 0),
  tardyMs: pushRun.limits.pushDelaysMs[0] ?? 0,
  ...(hasWaited(pushCase) ? { fromIndex: 1 } : {}),
});

/** The greatest lateness of a first push in a reading, in milliseconds. */
export const usualFirstLagMs = (reading: Reading, pushRun: PushTrace): number =>
  greatest(
    0,
    timedCases(pushRun)
      .filter((one) => !hasWaited(one))
      .flatMap(({ pushes: [first], triggered }) =>
        first === undefined ? [] : [first.at.latestMs - triggered.earliestMs - (reading.delaysMs[0] ?? 0)],
      ),
  );

export interface Fitted {
  readonly reading: Reading;
  readonly fits: readonly { readonly pushCase: PushCase; readonly fit: Fit }[];
}

/** Delays from an event whose pushes had to wait say nothing about when they come. */
const isUntold = ({ from }: Reading, pushCase: PushCase): boolean => from === "event" && hasWaited(pushCase);

export const fittedTo = (reading: Reading, pushRun: PushTrace): Fitted => ({
  reading,
  fits: timedCases(pushRun).map((pushCase) => ({
    pushCase,
    fit: isUntold(reading, pushCase)
      ? fits
      : fitOf(reading, "start", pushCase, optionsFor(pushCase, pushRun)),
  })),
});

export const isAllowed = ({ fits }: Fitted): boolean =>
  fits.every(({ fit }) => fit.kind !== "against" && fit.kind !== "tardy");

/** A reading that only lateness contradicts, and the greatest lateness. */
interface Tardy extends Fitted {
  readonly periodMs: number;
  readonly why: string;
}

/**
 * If no reading fits in time, the readings that a polling sender would follow: each of its pushes is sent on the first
 * tick of its clock after it is due.
 */
export const tardyReadings = (fitted: readonly Fitted[], pushRun: PushTrace): readonly Tardy[] => {
  if (fitted.some(isAllowed)) return [];
  return fitted.flatMap((one): Tardy[] => {
    if (one.fits.some(({ fit }) => fit.kind === "against")) return [];
    const late = one.fits.flatMap(({ fit }) => (fit.kind === "tardy" ? [fit] : []));
    const [worst] = late.toSorted((a, b) => b.byMs - a.byMs);
    if (worst === undefined) return [];
    // A single late push may be late by a tick at most; of several, one may have waited for its turn on the tick.
    const turnMs = late.length > 1 ? lagOf(pushRun) : 0;
    const periodMs = periodOf(one.reading, pushRun, worst.byMs - turnMs);
    return periodMs === undefined ? [] : [{ ...one, periodMs, why: worst.why }];
  });
};

/**
 * The shortest period, of at least `minMs`, with which a polling sender would send all retries of a reading, and what came
 * `beside` them; in milliseconds, undefined if there is none.
 */
const periodOf = (
  reading: Reading,
  pushRun: PushTrace,
  minMs: number,
  beside: readonly Polled[] = [],
): number | undefined => {
  const firstMs = pushRun.limits.pushDelaysMs[0] ?? 0;
  const isExact = pushRun.isMovedOnly === true;
  const options = {
    minMs,
    maxMs: firstMs,
    // A loop sleeps a round time and works for some, so that its period is not round, and adds up over the run.
    stepMs: firstMs / (isExact ? 60 : 1_500),
    isExact,
  };
  return (reading.from === "event" ? [false, true] : [reading.from === "previous"])
    .map((isChained) => pollPeriodMs([...polledIn(reading, isChained, pushRun), ...beside], options))
    .find((periodMs) => periodMs !== undefined);
};

/**
 * The same for a sender whose ordinary retries are in time, and whose retries after pushes without an answer (`slow`) are
 * later than that: all fall on ticks of one clock. Undefined if that cannot be told.
 */
export const periodWithSlow = (
  reading: Reading,
  slow: readonly PushCase[],
  pushRun: PushTrace,
): number | undefined => {
  const isTold = slow.every(
    ({ purpose, pushes }) =>
      (purpose === "hang" && pushes.length > 1) ||
      (purpose === "unanswered" && pushes.length === reading.pushes),
  );
  if (!isTold) return undefined;
  const polled = slow.flatMap(({ pushes }) => polledAfterEach(reading, pushes, lagOf(pushRun)));
  const periodMs = periodOf(reading, pushRun, pushRun.latenessMs, polled);
  const isNarrow = polled.every(({ pushes }) =>
    pushes.every(({ at }) => at.latestMs - at.earliestMs < (periodMs ?? 0)),
  );
  return isNarrow ? periodMs : undefined;
};

/** Each retry by itself, counted from some moment between the start and the end of the push before. */
const polledAfterEach = (reading: Reading, pushes: PushCase["pushes"], lagMs: number): readonly Polled[] =>
  pushes.slice(1).flatMap(({ at }, index): Polled[] => {
    const before = pushes[index];
    if (before === undefined) return [];
    const failed = {
      earliestMs: before.at.earliestMs,
      latestMs: (before.ended ?? before.at).latestMs,
    };
    const delayMs = delayOf(reading, index + 1, true);
    return [{ from: sooner(failed, lagMs), isChained: true, pushes: [{ at: sooner(at, lagMs), delayMs }] }];
  });

/** A sender that counts on from a late push (chained) adds the difference between two delays from the event. */
const delayOf = ({ from, delaysMs }: Reading, index: number, isChained: boolean): number =>
  (delaysMs[index] ?? 0) - (from === "event" && isChained ? (delaysMs[index - 1] ?? 0) : 0);

/** A sender takes a while for all pushes of a tick, and each takes a while to arrive. */
const lagOf = ({ isMovedOnly, earlyGuardMs }: PushTrace): number => (isMovedOnly === true ? 0 : earlyGuardMs);

/** The retries in a reading, as a polling sender notices them. */
const polledIn = (reading: Reading, isChained: boolean, pushRun: PushTrace): readonly Polled[] => {
  const lagMs = lagOf(pushRun);
  const told = timedCases(pushRun).filter((pushCase) => !isUntold(reading, pushCase));
  return told.flatMap(({ triggered, pushes: [first, ...retries] }) =>
    first === undefined
      ? []
      : [
          {
            from: sooner(reading.from === "event" && !isChained ? triggered : first.at, lagMs),
            isChained,
            pushes: retries.map(({ at }, index) => ({
              at: sooner(at, lagMs),
              delayMs: delayOf(reading, index + 1, isChained),
            })),
          },
        ],
  );
};

const sooner = ({ earliestMs, latestMs }: TimeInterval, byMs: number): TimeInterval => ({
  earliestMs: earliestMs - byMs,
  latestMs,
});

/** Names of the readings that nothing contradicts, including those beyond the cap. */
export const readingsThatFit = (pushRun: PushTrace): readonly ReadingName[] =>
  timedCases(pushRun).length === 0
    ? []
    : readingsOf(pushRun.limits)
        .map((reading) => fittedTo(reading, pushRun))
        .filter(isAllowed)
        .map(({ reading }) => reading.name);

/** The greatest lateness of a sender's pushes in a reading, in milliseconds. */
export const usualLatenessMs = ({ reading }: Fitted, pushRun: PushTrace): number =>
  greatest(
    0,
    timedCases(pushRun).flatMap((pushCase) =>
      pushCase.pushes.map(({ at }, index) => {
        const due = dueOf(reading, "start", index, pushCase);
        return due === undefined ? 0 : at.earliestMs - due.latestMs;
      }),
    ),
  );

/** Retries later than this share of the first delay are not those of a punctual sender. */
const LATE_SHARE = 1 / 10;

/** By push run, since each of its notifications asks. */
const furtherLateness = new WeakMap<PushTrace, number>();

/**
 * How late a push of this sender may be where others are on time, in milliseconds; 0 unless its retries are usually late
 * by more than a tenth of the first delay, as those of one that polls for due pushes. Infinity if they fit no reading.
 */
export const furtherLatenessMs = (pushRun: PushTrace): number => {
  const known = furtherLateness.get(pushRun);
  if (known !== undefined) return known;
  const firstMs = pushRun.limits.pushDelaysMs[0] ?? 0;
  const usualMs = Math.min(
    ...readingsOf(pushRun.limits)
      .map((reading) => fittedTo(reading, pushRun))
      .filter(({ fits: each }) => each.every(({ fit }) => fit.kind !== "against"))
      .map((one) => usualLatenessMs(one, pushRun)),
  );
  const furtherMs = usualMs > firstMs * LATE_SHARE ? Math.max(usualMs, firstMs) : 0;
  furtherLateness.set(pushRun, furtherMs);
  return furtherMs;
};
