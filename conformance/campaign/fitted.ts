import { readingsOf, type Reading, type ReadingName } from "../contract/readings.ts";
import type { Campaign, Specimen } from "./data.ts";
import { ofPurpose } from "./finding.ts";
import { fitOf, type Fit, type FitOptions } from "./fits.ts";
import { commonPeriodMs } from "./poll.ts";
import { dueOf } from "./readings.ts";

/** Notifications whose pushes tell the schedule: they failed at once, each time, until acknowledged if ever. */
export const telling = (campaign: Campaign): readonly Specimen[] =>
  ofPurpose(campaign, "never", "late").filter(({ pushes }) => pushes.length > 0);

export const optionsFor = (specimen: Specimen, campaign: Campaign): FitOptions => ({
  latenessMs: campaign.latenessMs,
  earlyGuardMs: campaign.earlyGuardMs,
  watchedUntil: campaign.watchedUntil,
  isComplete: specimen.purpose === "never",
  firstLatenessMs: FIRST_LATE_SHARE * (campaign.limits.pushDelaysMs[0] ?? 0),
  tardyMs: campaign.limits.pushDelaysMs[0] ?? 0,
});

/** So much of the first delay may pass before a first push: no more, or it would be taken for one that is delayed. */
const FIRST_LATE_SHARE = 2 / 3;

/** How late first pushes are in a reading, at most, in milliseconds. */
export const usualFirstLagMs = (reading: Reading, campaign: Campaign): number =>
  Math.max(
    0,
    ...telling(campaign).flatMap(({ pushes: [first], triggered }) =>
      first === undefined ? [] : [first.at.latestMs - triggered.earliestMs - (reading.delaysMs[0] ?? 0)],
    ),
  );

export interface Fitted {
  readonly reading: Reading;
  readonly fits: readonly { readonly specimen: Specimen; readonly fit: Fit }[];
}

export const fittedTo = (reading: Reading, campaign: Campaign): Fitted => ({
  reading,
  fits: telling(campaign).map((specimen) => ({
    specimen,
    fit: fitOf(reading, "start", specimen, optionsFor(specimen, campaign)),
  })),
});

export const isAllowed = ({ fits }: Fitted): boolean =>
  fits.every(({ fit }) => fit.kind !== "against" && fit.kind !== "tardy");

/** A reading that only lateness speaks against, and how much of it there is at most. */
interface Tardy extends Fitted {
  readonly periodMs: number;
  readonly why: string;
}

/**
 * Where no reading is kept to in time: those that a sender would keep to which looks for what is due every so
 * many seconds. Its pushes are late by less than that, and all of them fall on the ticks of its clock.
 */
export const tardyReadings = (fitted: readonly Fitted[], campaign: Campaign): readonly Tardy[] => {
  if (fitted.some(isAllowed)) return [];
  const firstMs = campaign.limits.pushDelaysMs[0] ?? 0;
  const retries = telling(campaign).flatMap(({ pushes }) => pushes.slice(1).map(({ at }) => at));
  return fitted.flatMap((one): Tardy[] => {
    if (one.fits.some(({ fit }) => fit.kind === "against")) return [];
    const late = one.fits.flatMap(({ fit }) => (fit.kind === "tardy" ? [fit] : []));
    const [worst] = late.toSorted((a, b) => b.byMs - a.byMs);
    if (worst === undefined) return [];
    const periodMs = commonPeriodMs(retries, { leastMs: worst.byMs, mostMs: firstMs, stepMs: firstMs / 60 });
    return periodMs === undefined ? [] : [{ ...one, periodMs, why: worst.why }];
  });
};

/** Names of the readings that nothing speaks against, those beyond the cap included. */
export const readingsThatFit = (campaign: Campaign): readonly ReadingName[] =>
  telling(campaign).length === 0
    ? []
    : readingsOf(campaign.limits)
        .map((reading) => fittedTo(reading, campaign))
        .filter(isAllowed)
        .map(({ reading }) => reading.name);

/** How late a sender's pushes are at most in a reading, in milliseconds. */
export const usualLatenessMs = ({ reading }: Fitted, campaign: Campaign): number =>
  Math.max(
    0,
    ...telling(campaign).flatMap((specimen) =>
      specimen.pushes.map(({ at }, index) => {
        const due = dueOf(reading, "start", index, specimen);
        return due === undefined ? 0 : at.earliestMs - due.latestMs;
      }),
    ),
  );
