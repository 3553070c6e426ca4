import { tolerances } from "../tolerances.ts";
import { readingsOf, type Reading, type ReadingName, dueOf } from "./readings.ts";
import type { PushCase, PushTrace } from "./trace.ts";
import { ofPurpose } from "./finding.ts";
import { fitOf, type Fit, type FitOptions } from "./fits.ts";
import { commonPeriodMs } from "./poll.ts";

/** Notifications whose pushes show the schedule: each push failed at once, until acknowledged if ever. */
export const timedCases = (pushRun: PushTrace): readonly PushCase[] =>
  ofPurpose(pushRun, "never", "late").filter(({ pushes }) => pushes.length > 0);

export const optionsFor = (pushCase: PushCase, pushRun: PushTrace): FitOptions => ({
  latenessMs: pushRun.latenessMs,
  earlyGuardMs: pushRun.earlyGuardMs,
  watchedUntil: pushRun.watchedUntil,
  isComplete: pushCase.purpose === "never",
  firstLatenessMs:
    pushRun.firstLatenessMs ??
    tolerances.firstPushLatenessShare.default * (pushRun.limits.pushDelaysMs[0] ?? 0),
  tardyMs: pushRun.limits.pushDelaysMs[0] ?? 0,
});

/** The greatest lateness of a first push in a reading, in milliseconds. */
export const usualFirstLagMs = (reading: Reading, pushRun: PushTrace): number =>
  Math.max(
    0,
    ...timedCases(pushRun).flatMap(({ pushes: [first], triggered }) =>
      first === undefined ? [] : [first.at.latestMs - triggered.earliestMs - (reading.delaysMs[0] ?? 0)],
    ),
  );

export interface Fitted {
  readonly reading: Reading;
  readonly fits: readonly { readonly pushCase: PushCase; readonly fit: Fit }[];
}

export const fittedTo = (reading: Reading, pushRun: PushTrace): Fitted => ({
  reading,
  fits: timedCases(pushRun).map((pushCase) => ({
    pushCase,
    fit: fitOf(reading, "start", pushCase, optionsFor(pushCase, pushRun)),
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
 * If no reading fits in time, the readings that a polling sender would follow: its pushes are late by less
 * than its poll interval, and all fall on the ticks of its clock.
 */
export const tardyReadings = (fitted: readonly Fitted[], pushRun: PushTrace): readonly Tardy[] => {
  if (fitted.some(isAllowed)) return [];
  const firstMs = pushRun.limits.pushDelaysMs[0] ?? 0;
  const retries = timedCases(pushRun).flatMap(({ pushes }) => pushes.slice(1).map(({ at }) => at));
  return fitted.flatMap((one): Tardy[] => {
    if (one.fits.some(({ fit }) => fit.kind === "against")) return [];
    const late = one.fits.flatMap(({ fit }) => (fit.kind === "tardy" ? [fit] : []));
    const [worst] = late.toSorted((a, b) => b.byMs - a.byMs);
    if (worst === undefined) return [];
    const periodMs = commonPeriodMs(retries, { minMs: worst.byMs, maxMs: firstMs, stepMs: firstMs / 60 });
    return periodMs === undefined ? [] : [{ ...one, periodMs, why: worst.why }];
  });
};

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
  Math.max(
    0,
    ...timedCases(pushRun).flatMap((pushCase) =>
      pushCase.pushes.map(({ at }, index) => {
        const due = dueOf(reading, "start", index, pushCase);
        return due === undefined ? 0 : at.earliestMs - due.latestMs;
      }),
    ),
  );
