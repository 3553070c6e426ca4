import { duration } from "../../contract/duration.ts";
import { instantsOf, readingsOf, type Reading, anchors, type Anchor } from "./readings.ts";
import { fail, pass } from "../case-verdict.ts";
import type { PushRun, PushCase } from "./trace.ts";
import { momentsText, ofPurpose, undecidedFinding, type Finding } from "./finding.ts";
import { exactnessOf, fitOf, windowsOf, type Exactness, type Fit } from "./fits.ts";
import {
  fittedTo,
  isAllowed,
  optionsFor,
  tardyReadings,
  telling,
  usualLatenessMs,
  type Fitted,
} from "./fitted.ts";
import { unlessLost } from "./lost-connections.ts";
import { slowFit, slowPushCases } from "./slow-failures.ts";

/** push.schedule: sections 6 and 8. */
export const judgeSchedule = (pushRun: PushRun): Finding => unlessLost(judgeMoments(pushRun), pushRun);

const judgeMoments = (pushRun: PushRun): Finding => {
  const all = telling(pushRun);
  const never = all.filter(({ purpose }) => purpose === "never");
  if (never.length === 0) return undecidedFinding("no notification was pushed that is never acknowledged");
  const fitted = readingsOf(pushRun.limits).map((reading) => fittedTo(reading, pushRun));
  const allowed = fitted.filter(isAllowed);
  const keeping = allowed.filter(({ reading }) => reading.keepsCap);
  const facts = {
    readings: allowed.map(({ reading }) => reading.name),
    ...anchorFacts(allowed, pushRun),
    ...resolutionFact(keeping, pushRun),
    schedule: scheduleTable(never[0], fitted, pushRun),
  };
  const finding =
    tardyFinding(fitted, pushRun) ??
    (keeping.length === 0 ? misfitFinding(fitted, allowed, all.length, pushRun) : undefined) ??
    slowFinding(keeping, all.length, pushRun) ??
    vagueFinding(keeping, pushRun);
  return finding === undefined
    ? { judgement: pass, cases: all.length + slowPushCases(pushRun).length, facts }
    : { ...finding, facts };
};

/** Pushes are late as those of a sender are that looks for what is due from time to time. */
const tardyFinding = (fitted: readonly Fitted[], pushRun: PushRun): Finding | undefined => {
  const [tardy] = tardyReadings(fitted, pushRun).filter(({ reading }) => reading.keepsCap);
  return tardy === undefined
    ? undefined
    : undecidedFinding(
        `pushes come as in ${tardy.reading.name}, but late (${tardy.why}), and all on the ticks of one clock, like those of a sender that looks for what is due every ${duration(tardy.periodMs)} at least; how late a push may be, the document does not say`,
        "tolerances.latenessMs in the profile, which says how late a push may be",
      );
};

/** No reading that keeps to the cap has its pushes at these moments. */
const misfitFinding = (
  fitted: readonly Fitted[],
  allowed: readonly Fitted[],
  cases: number,
  pushRun: PushRun,
): Finding => {
  const { actual, pushCase, lacking } = nearest(fitted, allowed, pushRun);
  const moments = fitted
    .filter(({ reading }) => reading.keepsCap)
    .map(({ reading }) => `${reading.name} at ${instantsText(reading)}`);
  return {
    judgement: fail(
      `pushes come at the moments of one reading that keeps to ${pushRun.limits.maxPushes} pushes: ${moments.join("; ")}`,
      actual,
    ),
    cases,
    evidence: pushCase?.pushes ?? [],
    lacking,
    broken: Math.max(1, lacking.length),
  };
};

/** Pushes after a failure that takes time fit no reading that the others fit. */
const slowFinding = (keeping: readonly Fitted[], cases: number, pushRun: PushRun): Finding | undefined => {
  const slow = slowPushCases(pushRun);
  const patient = keeping.map(({ reading }) => slowAgainst(reading, slow, pushRun));
  if (patient.some((misfits) => misfits.length === 0)) return undefined;
  const [best = []] = patient.toSorted((a, b) => deviationOf(a) - deviationOf(b));
  const [worst] = best.toSorted((a, b) => b.fit.offBy - a.fit.offBy);
  const lacking = best.every(({ fit }) => fit.isLack) ? best.map(({ pushCase }) => pushCase) : [];
  return {
    judgement: fail(
      `a push that got no answer, or was refused, is repeated as any other is: at the moments of ${keeping.map(({ reading }) => reading.name).join(" or ")}, counted from its beginning or its end`,
      worst === undefined
        ? "it was not"
        : `${momentsText(worst.pushCase)} (${worst.pushCase.name}); ${worst.fit.why}`,
    ),
    cases: cases + slow.length,
    evidence: worst?.pushCase.pushes ?? [],
    lacking,
    broken: best.length,
  };
};

/** Where a reading would do but for what is not known of it: not waited for, or not known exactly by any notification. */
const vagueFinding = (keeping: readonly Fitted[], pushRun: PushRun): Finding | undefined => {
  const vague = keeping.map(({ reading, fits }) => {
    const unwatched = fits.find(({ fit }) => fit.kind === "vague")?.fit;
    if (unwatched?.kind === "vague" && !fits.some(isWatchedOut)) return unwatched.why;
    const coarse = sharpest(reading, pushRun).find(({ widthMs, mostMs }) => widthMs > mostMs);
    return coarse === undefined
      ? undefined
      : `the moment of push ${coarse.index + 1} is known to ${duration(coarse.widthMs)} only, and to no less of any notification, which is more than the ${duration(coarse.mostMs)} that it has to be told from others by`;
  });
  const [reason] = vague;
  return reason !== undefined && vague.every((why) => why !== undefined)
    ? undecidedFinding(reason, exactly(pushRun))
    : undefined;
};

const isWatchedOut = ({ pushCase, fit }: Fitted["fits"][number]): boolean =>
  pushCase.purpose === "never" && fit.kind === "fits";

/** How exactly each push of a reading is known of the notification that tells it best. */
const sharpest = (reading: Reading, pushRun: PushRun): readonly Exactness[] => {
  const all = telling(pushRun).flatMap((pushCase) =>
    exactnessOf(reading, pushCase, optionsFor(pushCase, pushRun)),
  );
  return [...Map.groupBy(all, ({ index }) => index).values()].flatMap(
    (group) => group.toSorted((a, b) => a.widthMs - b.widthMs)[0] ?? [],
  );
};

/** The smallest error in the moment of a push that could not have been missed, in the first of the readings that fit. */
const resolutionFact = (allowed: readonly Fitted[], pushRun: PushRun): { readonly resolutionMs?: number } => {
  const widths = allowed
    .slice(0, 1)
    .flatMap(({ reading }) => sharpest(reading, pushRun))
    .map(({ widthMs }) => widthMs);
  return widths.length === 0 ? {} : { resolutionMs: Math.round(Math.max(...widths)) };
};

type Misfit = { readonly pushCase: PushCase; readonly fit: Extract<Fit, { readonly kind: "against" }> };

const slowAgainst = (reading: Reading, slow: readonly PushCase[], pushRun: PushRun): readonly Misfit[] =>
  slow.flatMap((pushCase) => {
    const fit = slowFit(reading, pushCase, pushRun);
    return fit.kind === "against" ? [{ pushCase, fit }] : [];
  });

const deviationOf = (misfits: readonly Misfit[]): number =>
  misfits.reduce((sum, { fit }) => sum + fit.offBy, 0);

const exactly = (pushRun: PushRun): string => (pushRun.clock === "real" ? IN_REAL_TIME : EXACTLY);
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
  pushRun: PushRun,
): {
  readonly actual: string;
  readonly pushCase: PushCase | undefined;
  /** Whose pushes are late or missing and nothing else, in that reading. */
  readonly lacking: readonly PushCase[];
} => {
  const [beyond] = allowed;
  if (beyond !== undefined) {
    const pushCase = ofPurpose(pushRun, "never").find(({ pushes }) => pushes.length > 0);
    return {
      actual: `they come at the moments of ${beyond.reading.name}, which has ${beyond.reading.pushes} pushes: ${momentsText(pushCase)}`,
      pushCase,
      lacking: [],
    };
  }
  const misfits = ({ fits }: Fitted) =>
    fits.flatMap(({ pushCase, fit }) =>
      fit.kind === "against" || fit.kind === "tardy"
        ? [
            {
              pushCase,
              why: fit.why,
              offBy: fit.kind === "tardy" ? fit.byMs / (3 * pushRun.latenessMs) : fit.offBy,
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
    actual: `${momentsText(worst?.pushCase)} (${worst?.pushCase.name ?? "none"}); nearest is ${best?.reading.name ?? "none"}, but ${worst?.why ?? "it does not fit"}`,
    pushCase: worst?.pushCase,
    lacking: all.every(({ isLack }) => isLack) ? all.map(({ pushCase }) => pushCase) : [],
  };
};

/**
 * Push by push: when it came, when each reading has it for failures that take no time, and its window in each reading.
 * Milliseconds after the event; a push is early where `beforeMs < earliestMs`, and late where `afterMs > latestMs`.
 */
const scheduleTable = (
  pushCase: PushCase | undefined,
  fitted: readonly Fitted[],
  pushRun: PushRun,
): readonly Record<string, unknown>[] => {
  if (pushCase === undefined) return [];
  const { triggered } = pushCase;
  // Where no reading fits, a push that is missing is shown as well.
  const allowed = fitted.filter(isAllowed);
  const shown = allowed.length > 0 ? allowed : fitted.filter(({ reading }) => reading.keepsCap);
  const rows = Math.max(pushCase.pushes.length, ...shown.map(({ reading }) => reading.pushes));
  const windows = fitted.map(({ reading }) => ({
    reading,
    instants: instantsOf(reading),
    windows: windowsOf(reading, pushCase, optionsFor(pushCase, pushRun)),
  }));
  return Array.from({ length: rows }, (_, index) => {
    const at = pushCase.pushes[index]?.at;
    const expected = windows.flatMap(({ reading: { name }, instants, windows: { [index]: window } }) =>
      window === undefined ? [] : [{ name, instant: instants[index], window }],
    );
    const byName = (valueOf: (one: (typeof expected)[number]) => number | undefined) =>
      Object.fromEntries(expected.map((one) => [one.name, valueOf(one)]));
    return {
      push: index + 1,
      ...(at === undefined
        ? {}
        : {
            afterMs: Math.round(Math.max(0, at.earliestMs - triggered.latestMs)),
            beforeMs: Math.round(at.latestMs - triggered.earliestMs),
          }),
      expectedMs: byName(({ instant }) => instant),
      earliestMs: byName(({ window }) => Math.round(window.earliestMs - triggered.earliestMs)),
      latestMs: byName(({ window }) => Math.round(window.latestMs - triggered.latestMs)),
    };
  });
};

/**
 * What delays are counted from shows where a failure takes long: a push without an answer, or with a late
 * one. As the same sender's lateness is known from its other pushes, less of it is allowed for here.
 */
const anchorFacts = (
  allowed: readonly Fitted[],
  pushRun: PushRun,
): { readonly anchors?: readonly Anchor[] } => {
  const [first] = allowed.toSorted((a, b) => Number(b.reading.keepsCap) - Number(a.reading.keepsCap));
  const hung = ofPurpose(pushRun, "hang").filter(({ pushes }) => pushes.length > 1);
  if (first === undefined || hung.length === 0) return {};
  const latenessMs = usualLatenessMs(first, pushRun) + (pushRun.limits.pushDelaysMs[0] ?? 0) / 15;
  const left = anchors.filter((anchor) =>
    hung.every((pushCase) => {
      const options = { ...optionsFor(pushCase, pushRun), isComplete: false, latenessMs, tardyMs: 0 };
      return (
        fitOf(first.reading, anchor, { ...pushCase, pushes: pushCase.pushes.slice(0, 2) }, options).kind !==
        "against"
      );
    }),
  );
  return { anchors: left.length === 0 ? anchors : left };
};
