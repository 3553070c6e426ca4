import { duration } from "../contract/duration.ts";
import { broke, held } from "../judgement.ts";
import type { Campaign, Specimen } from "./data.ts";
import { findingOf, ofPurpose, pushCount, undecidedFinding, type Finding, type Part } from "./finding.ts";
import { fitOf, type Fit, type FitOptions } from "./fits.ts";
import { instantsOf, readingsOf, type Reading, type ReadingName } from "../contract/readings.ts";
import { commonPeriodMs } from "./poll.ts";
import { anchors, dueOf, type Anchor } from "./readings.ts";

/** Notifications whose pushes tell the schedule: they failed at once, each time, until acknowledged if ever. */
const telling = (campaign: Campaign): readonly Specimen[] =>
  ofPurpose(campaign, "never", "late").filter(({ pushes }) => pushes.length > 0);

const optionsFor = (specimen: Specimen, campaign: Campaign): FitOptions => ({
  latenessMs: campaign.latenessMs,
  earlyGuardMs: campaign.earlyGuardMs,
  watchedUntil: campaign.watchedUntil,
  isComplete: specimen.purpose === "never",
  tardyMs: campaign.limits.pushDelaysMs[0] ?? 0,
});

interface Fitted {
  readonly reading: Reading;
  readonly fits: readonly { readonly specimen: Specimen; readonly fit: Fit }[];
}

const fittedTo = (reading: Reading, campaign: Campaign): Fitted => ({
  reading,
  fits: telling(campaign).map((specimen) => ({
    specimen,
    fit: fitOf(reading, "start", specimen, optionsFor(specimen, campaign)),
  })),
});

const isAllowed = ({ fits }: Fitted): boolean =>
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
const tardyReadings = (fitted: readonly Fitted[], campaign: Campaign): readonly Tardy[] => {
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

/** push.schedule: sections 6 and 8. */
export const judgeSchedule = (campaign: Campaign): Finding => {
  const all = telling(campaign);
  const never = all.filter(({ purpose }) => purpose === "never");
  if (never.length === 0) return undecidedFinding("no notification was pushed that is never acknowledged");
  const fitted = readingsOf(campaign.limits).map((reading) => fittedTo(reading, campaign));
  const allowed = fitted.filter(isAllowed);
  const keeping = allowed.filter(({ reading }) => reading.keepsCap);
  const facts = {
    readings: allowed.map(({ reading }) => reading.name),
    ...anchorFacts(allowed, campaign),
    schedule: scheduleTable(never[0], fitted),
  };
  const cases = all.length;
  const [tardy] = tardyReadings(fitted, campaign).filter(({ reading }) => reading.keepsCap);
  if (tardy !== undefined)
    return {
      ...undecidedFinding(
        `pushes come as in ${tardy.reading.name}, but late (${tardy.why}), and all on the ticks of one clock, like those of a sender that looks for what is due every ${duration(tardy.periodMs)} at least; how late a push may be, the document does not say`,
        "tolerances.latenessMs in the profile, which says how late a push may be",
      ),
      facts,
    };
  if (keeping.length === 0) {
    const { actual, specimen } = nearest(fitted, allowed, campaign);
    return {
      judgement: broke(
        `pushes come at the moments of one reading that keeps to ${campaign.limits.maxPushes} pushes: ${fitted
          .filter(({ reading }) => reading.keepsCap)
          .map(({ reading }) => `${reading.name} at ${instantsText(reading)}`)
          .join("; ")}`,
        actual,
      ),
      cases,
      facts,
      evidence: specimen?.pushes ?? [],
    };
  }
  const vague = keeping.map(({ fits }) => fits.find(({ fit }) => fit.kind === "vague")?.fit);
  const [reason] = vague;
  if (vague.every((fit) => fit !== undefined) && reason?.kind === "vague")
    return { ...undecidedFinding(reason.why, EXACTLY), facts };
  return { judgement: held, cases, facts };
};

const EXACTLY =
  "hooks.clock.now and an advance hook that answers once what it set off is over, with inFlight: 0; or a run in real time";

const instantsText = (reading: Reading): string =>
  instantsOf(reading)
    .map((instant) => duration(instant))
    .join(", ");

/** What was seen, beside the reading that the most notifications keep to. */
const nearest = (
  fitted: readonly Fitted[],
  allowed: readonly Fitted[],
  campaign: Campaign,
): { readonly actual: string; readonly specimen: Specimen | undefined } => {
  const [beyond] = allowed;
  const against = ({ fits }: Fitted) =>
    fits.filter(({ fit }) => fit.kind === "against" || fit.kind === "tardy");
  if (beyond !== undefined) {
    const specimen = ofPurpose(campaign, "never").find(({ pushes }) => pushes.length > 0);
    return {
      actual: `they come at the moments of ${beyond.reading.name}, which has ${beyond.reading.pushes} pushes: ${momentsText(specimen)}`,
      specimen,
    };
  }
  const [best] = fitted.toSorted((a, b) => against(a).length - against(b).length);
  const worst = best === undefined ? undefined : against(best)[0];
  return {
    actual: `${momentsText(worst?.specimen)}; nearest is ${best?.reading.name ?? "none"}, but ${worst !== undefined && "why" in worst.fit ? worst.fit.why : "it does not fit"}`,
    specimen: worst?.specimen,
  };
};

const momentsText = (specimen: Specimen | undefined): string =>
  specimen === undefined
    ? "no push came"
    : `pushes of one notification came ${specimen.pushes.map(({ at }) => duration(Math.max(0, at.latestMs - specimen.triggered.earliestMs))).join(", ")} after its event`;

/** Attempt by attempt: when it came, and when each reading expects it for failures that take no time. */
const scheduleTable = (
  specimen: Specimen | undefined,
  fitted: readonly Fitted[],
): readonly Record<string, unknown>[] => {
  if (specimen === undefined) return [];
  const rows = Math.max(
    specimen.pushes.length,
    ...fitted.filter(isAllowed).map(({ reading }) => reading.pushes),
  );
  return Array.from({ length: rows }, (_, index) => {
    const at = specimen.pushes[index]?.at;
    const expectedMs = Object.fromEntries(
      fitted.flatMap(({ reading }) => {
        const instant = instantsOf(reading)[index];
        return instant === undefined ? [] : [[reading.name, instant]];
      }),
    );
    return {
      push: index + 1,
      ...(at === undefined
        ? {}
        : {
            afterMs: Math.round(Math.max(0, at.earliestMs - specimen.triggered.latestMs)),
            beforeMs: Math.round(at.latestMs - specimen.triggered.earliestMs),
          }),
      expectedMs,
    };
  });
};

/**
 * What delays are counted from shows where a failure takes long: a push without an answer, or with a late
 * one. As the same sender's lateness is known from its other pushes, less of it is allowed for here.
 */
const anchorFacts = (
  allowed: readonly Fitted[],
  campaign: Campaign,
): { readonly anchors?: readonly Anchor[] } => {
  const [first] = allowed.toSorted((a, b) => Number(b.reading.keepsCap) - Number(a.reading.keepsCap));
  const hung = ofPurpose(campaign, "hang").filter(({ pushes }) => pushes.length > 1);
  if (first === undefined || hung.length === 0) return {};
  const latenessMs = usualLatenessMs(first, campaign) + (campaign.limits.pushDelaysMs[0] ?? 0) / 15;
  const left = anchors.filter((anchor) =>
    hung.every((specimen) => {
      const options = { ...optionsFor(specimen, campaign), isComplete: false, latenessMs, tardyMs: 0 };
      return (
        fitOf(first.reading, anchor, { ...specimen, pushes: specimen.pushes.slice(0, 2) }, options).kind !==
        "against"
      );
    }),
  );
  return { anchors: left.length === 0 ? anchors : left };
};

const usualLatenessMs = ({ reading }: Fitted, campaign: Campaign): number =>
  Math.max(
    0,
    ...telling(campaign).flatMap((specimen) =>
      specimen.pushes.map(({ at }, index) => {
        const due = dueOf(reading, "start", index, specimen);
        return due === undefined ? 0 : at.earliestMs - due.latestMs;
      }),
    ),
  );

/** push.independent-schedules: follows from sections 6 and 8. Compares notifications with one another. */
export const judgeIndependence = (campaign: Campaign): Finding => {
  const never = ofPurpose(campaign, "never");
  const most = Math.max(0, ...never.map(({ pushes }) => pushes.length));
  if (most < 2) return undecidedFinding("no notification was pushed more than once");
  const model = typical(never);
  const slackMs = slackOf(campaign);
  const expected =
    "notifications that fail side by side are each pushed as often as the others, at the same distances from their events";
  const parts = never.map((specimen): Part => {
    if (specimen.pushes.length !== model.pushes.length)
      return {
        expected,
        actual: `${pushCount(specimen.pushes.length)} of one notification came (${specimen.name}), while ${pushCount(model.pushes.length)} of others did`,
        evidence: specimen.pushes,
      };
    const apart = specimen.pushes.findIndex((_, index) => !agrees(specimen, model, index, slackMs));
    if (apart < 0) return "held";
    return {
      expected,
      actual: `${momentsText(specimen)} (${specimen.name}), while ${momentsText(model)} for another`,
      evidence: [...model.pushes, ...specimen.pushes],
    };
  });
  return findingOf(parts, "no notification was pushed", {
    notifications: never.length,
    pushesOfEach: model.pushes.length,
  });
};

/** The first of those notifications that have the most frequent number of pushes; the greater number where two are as frequent. */
const typical = (never: readonly Specimen[]): Specimen => {
  const countOf = (length: number): number => never.filter(({ pushes }) => pushes.length === length).length;
  const [first] = never.toSorted(
    (a, b) => countOf(b.pushes.length) - countOf(a.pushes.length) || b.pushes.length - a.pushes.length,
  );
  if (first === undefined) throw new Error("a campaign has notifications that are never acknowledged");
  return first;
};

/** Whether the same push of two notifications came at the same distance from their events, but for lateness. */
const agrees = (a: Specimen, b: Specimen, index: number, slackMs: (index: number) => number): boolean => {
  const distance = ({ pushes, triggered }: Specimen) => {
    const at = pushes[index]?.at ?? triggered;
    return { earliestMs: at.earliestMs - triggered.latestMs, latestMs: at.latestMs - triggered.earliestMs };
  };
  const [one, other] = [distance(a), distance(b)];
  const lateMs = slackMs(index);
  return one.latestMs >= other.earliestMs - lateMs && one.earliestMs <= other.latestMs + lateMs;
};

/**
 * By how much two notifications may differ at a push. Where a reading fits, by the lateness that the
 * sender has shown, which adds up from push to push; otherwise by that of one push.
 */
const slackOf = (campaign: Campaign): ((index: number) => number) => {
  const fitted = readingsOf(campaign.limits).map((reading) => fittedTo(reading, campaign));
  const [fitting] = [...fitted.filter(isAllowed), ...tardyReadings(fitted, campaign)];
  if (fitting === undefined) return () => campaign.latenessMs;
  const usualMs = usualLatenessMs(fitting, campaign) + campaign.latenessMs / 10;
  return (index) => (index + 1) * usualMs;
};
