import { duration } from "../contract/duration.ts";
import { instantsOf, readingsOf, type Reading } from "../contract/readings.ts";
import { broke, held } from "../judgement.ts";
import type { Campaign, Specimen } from "./data.ts";
import { momentsText, ofPurpose, undecidedFinding, type Finding } from "./finding.ts";
import { allowedLatenessMs, fitOf, type Fit } from "./fits.ts";
import {
  fittedTo,
  isAllowed,
  optionsFor,
  tardyReadings,
  telling,
  usualLatenessMs,
  type Fitted,
} from "./fitted.ts";
import { unlessLost } from "./lost.ts";
import { anchors, type Anchor } from "./readings.ts";
import { slowFit, slowSpecimens } from "./slow-failures.ts";

/** push.schedule: sections 6 and 8. */
export const judgeSchedule = (campaign: Campaign): Finding => unlessLost(judgeMoments(campaign), campaign);

const judgeMoments = (campaign: Campaign): Finding => {
  const all = telling(campaign);
  const never = all.filter(({ purpose }) => purpose === "never");
  if (never.length === 0) return undecidedFinding("no notification was pushed that is never acknowledged");
  const fitted = readingsOf(campaign.limits).map((reading) => fittedTo(reading, campaign));
  const allowed = fitted.filter(isAllowed);
  const keeping = allowed.filter(({ reading }) => reading.keepsCap);
  const facts = {
    readings: allowed.map(({ reading }) => reading.name),
    ...anchorFacts(allowed, campaign),
    schedule: scheduleTable(never[0], fitted, campaign),
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
    const { actual, specimen, lacking } = nearest(fitted, allowed, campaign);
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
      lacking,
      broken: Math.max(1, lacking.length),
    };
  }
  const slow = slowSpecimens(campaign);
  const patient = keeping.map(({ reading }) => slowAgainst(reading, slow, campaign));
  if (patient.every((misfits) => misfits.length > 0)) {
    const [best = []] = patient.toSorted((a, b) => deviationOf(a) - deviationOf(b));
    const [worst] = best.toSorted((a, b) => b.fit.offBy - a.fit.offBy);
    const lacking = best.every(({ fit }) => fit.isLack) ? best.map(({ specimen }) => specimen) : [];
    return {
      judgement: broke(
        `a push that got no answer, or was refused, is repeated as any other is: at the moments of ${keeping.map(({ reading }) => reading.name).join(" or ")}, counted from its beginning or its end`,
        worst === undefined
          ? "it was not"
          : `${momentsText(worst.specimen)} (${worst.specimen.name}); ${worst.fit.why}`,
      ),
      cases: cases + slow.length,
      facts,
      evidence: worst?.specimen.pushes ?? [],
      lacking,
      broken: best.length,
    };
  }
  // Where half of them are known exactly, what is known of the others less exactly takes nothing from it.
  const vague = keeping.map(({ fits }) => {
    const exact = fits.filter(({ fit }) => fit.kind === "fits");
    return 2 * exact.length > fits.length ? undefined : fits.find(({ fit }) => fit.kind === "vague")?.fit;
  });
  const [reason] = vague;
  if (vague.every((fit) => fit !== undefined) && reason?.kind === "vague")
    return { ...undecidedFinding(reason.why, exactly(campaign)), facts };
  return { judgement: held, cases: cases + slow.length, facts };
};

type Misfit = { readonly specimen: Specimen; readonly fit: Extract<Fit, { readonly kind: "against" }> };

const slowAgainst = (reading: Reading, slow: readonly Specimen[], campaign: Campaign): readonly Misfit[] =>
  slow.flatMap((specimen) => {
    const fit = slowFit(reading, specimen, campaign);
    return fit.kind === "against" ? [{ specimen, fit }] : [];
  });

const deviationOf = (misfits: readonly Misfit[]): number =>
  misfits.reduce((sum, { fit }) => sum + fit.offBy, 0);

const exactly = (campaign: Campaign): string => (campaign.clock === "real" ? IN_REAL_TIME : EXACTLY);
const IN_REAL_TIME =
  "longer delays (limits.pushDelaysMs in the profile), or a machine with less to do, so that the moments of pushes are known better";
const EXACTLY =
  "hooks.clock.now and an advance hook that answers once what it set off is over, with inFlight: 0; or a run in real time";

const instantsText = (reading: Reading): string =>
  instantsOf(reading)
    .map((instant) => duration(instant))
    .join(", ");

/** What was seen, beside the reading that the pushes are the least far off from. */
const nearest = (
  fitted: readonly Fitted[],
  allowed: readonly Fitted[],
  campaign: Campaign,
): {
  readonly actual: string;
  readonly specimen: Specimen | undefined;
  /** Whose pushes are late or missing and nothing else, in that reading. */
  readonly lacking: readonly Specimen[];
} => {
  const [beyond] = allowed;
  if (beyond !== undefined) {
    const specimen = ofPurpose(campaign, "never").find(({ pushes }) => pushes.length > 0);
    return {
      actual: `they come at the moments of ${beyond.reading.name}, which has ${beyond.reading.pushes} pushes: ${momentsText(specimen)}`,
      specimen,
      lacking: [],
    };
  }
  const misfits = ({ fits }: Fitted) =>
    fits.flatMap(({ specimen, fit }) =>
      fit.kind === "against" || fit.kind === "tardy"
        ? [
            {
              specimen,
              why: fit.why,
              offBy: fit.kind === "tardy" ? fit.byMs / (3 * campaign.latenessMs) : fit.offBy,
              isLack: fit.kind === "tardy" || fit.isLack,
            },
          ]
        : [],
    );
  const deviation = (one: Fitted): number => misfits(one).reduce((sum, { offBy }) => sum + offBy, 0);
  const [best] = fitted.toSorted((a, b) => deviation(a) - deviation(b));
  const all = best === undefined ? [] : misfits(best);
  const [worst] = all.toSorted((a, b) => b.offBy - a.offBy);
  return {
    actual: `${momentsText(worst?.specimen)} (${worst?.specimen.name ?? "none"}); nearest is ${best?.reading.name ?? "none"}, but ${worst?.why ?? "it does not fit"}`,
    specimen: worst?.specimen,
    lacking: all.every(({ isLack }) => isLack) ? all.map(({ specimen }) => specimen) : [],
  };
};

/** Attempt by attempt: when it came, and from when to when each reading has it for failures that take no time. */
const scheduleTable = (
  specimen: Specimen | undefined,
  fitted: readonly Fitted[],
  tolerance: Pick<Campaign, "latenessMs">,
): readonly Record<string, unknown>[] => {
  if (specimen === undefined) return [];
  const rows = Math.max(
    specimen.pushes.length,
    ...fitted.filter(isAllowed).map(({ reading }) => reading.pushes),
  );
  return Array.from({ length: rows }, (_, index) => {
    const at = specimen.pushes[index]?.at;
    const expected = fitted.flatMap(({ reading }) => {
      const instant = instantsOf(reading)[index];
      const lateMs = allowedLatenessMs(reading.delaysMs[index] ?? 0, tolerance);
      return instant === undefined ? [] : [{ name: reading.name, instant, latest: instant + lateMs }];
    });
    return {
      push: index + 1,
      ...(at === undefined
        ? {}
        : {
            afterMs: Math.round(Math.max(0, at.earliestMs - specimen.triggered.latestMs)),
            beforeMs: Math.round(at.latestMs - specimen.triggered.earliestMs),
          }),
      expectedMs: Object.fromEntries(expected.map(({ name, instant }) => [name, instant])),
      latestMs: Object.fromEntries(expected.map(({ name, latest }) => [name, latest])),
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
