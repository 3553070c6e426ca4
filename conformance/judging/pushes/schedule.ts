import { duration } from "../../contract/duration.ts";
import { instantsOf, readingsOf, type Reading, anchors, type Anchor } from "./readings.ts";
import { fail, pass } from "../case-verdict.ts";
import type { PushRun, PushCase } from "./trace.ts";
import { momentsText, ofPurpose, pushedOf, undecidedFinding, type Finding } from "./finding.ts";
import { exactnessOf, fitOf, windowsOf, type Exactness } from "./fits.ts";
import {
  fittedTo,
  isAllowed,
  optionsFor,
  periodWithSlow,
  tardyReadings,
  timedCases,
  usualLatenessMs,
  type Fitted,
} from "./fitted.ts";
import { unlessLost } from "./lost-connections.ts";
import { slowFit, slowPushCases } from "./slow-failures.ts";

/** push.schedule: sections 6 and 8. */
export const judgeSchedule = (pushRun: PushRun): Finding => unlessLost(judgeMoments(pushRun), pushRun);

const judgeMoments = (pushRun: PushRun): Finding => {
  const all = timedCases(pushRun);
  const [never] = pushedOf(pushRun, "never");
  if (never === undefined)
    return undecidedFinding("none of the notifications that are never acknowledged was pushed");
  const fitted = readingsOf(pushRun.limits).map((reading) => fittedTo(reading, pushRun));
  const allowed = fitted.filter(isAllowed);
  const keeping = allowed.filter(({ reading }) => reading.keepsCap);
  const facts = {
    readings: allowed.map(({ reading }) => reading.name),
    ...anchorFacts(allowed, pushRun),
    ...resolutionFact(keeping, pushRun),
    schedule: scheduleTable(never, fitted, pushRun),
  };
  const slow = slowPushCases(pushRun);
  const fittedSlow = keeping.map(({ reading }) => ({
    reading,
    fits: slow.map((pushCase) => ({ pushCase, fit: slowFit(reading, pushCase, pushRun) })),
  }));
  const unjudged = unjudgedIn(fittedSlow);
  const finding =
    tardyFinding(fitted, pushRun) ??
    (keeping.length === 0 ? misfitFinding(fitted, allowed, all.length, pushRun) : undefined) ??
    slowFinding(fittedSlow, all.length + slow.length, pushRun) ??
    vagueFinding(keeping, pushRun);
  return finding === undefined
    ? {
        judgement: pass,
        cases: all.length + slow.length - unjudged.length,
        facts: unjudged.length === 0 ? facts : { ...facts, notJudged: unjudged },
      }
    : { ...finding, facts };
};

/** Pushes are late in the way of a sender that polls for due pushes. */
const tardyFinding = (fitted: readonly Fitted[], pushRun: PushRun): Finding | undefined => {
  const [tardy] = tardyReadings(fitted, pushRun).filter(({ reading }) => reading.keepsCap);
  return tardy === undefined ? undefined : polledFinding(tardy);
};

interface LikePolled {
  readonly reading: Reading;
  readonly why: string;
  readonly periodMs: number;
}

/** Says what is seen of a sender that seems to poll. */
export const asPolled = ({ reading, why, periodMs }: LikePolled): string =>
  `pushes follow ${reading.name}, but late (${why}), and all at multiples of one period, as if the sender polls for due pushes every ${duration(Number(periodMs.toPrecision(3)))} or more; the document does not say how late a push may be`;

const polledFinding = (polled: LikePolled): Finding =>
  undecidedFinding(asPolled(polled), {
    settle: "tolerances.latenessMs in the profile, which sets how late a push may be",
  });

/** The pushes fit no reading that keeps to the cap. */
const misfitFinding = (
  fitted: readonly Fitted[],
  allowed: readonly Fitted[],
  cases: number,
  pushRun: PushRun,
): Finding => {
  const moments = fitted
    .filter(({ reading }) => reading.keepsCap)
    .map(({ reading }) => `${reading.name} at ${instantsText(reading)}`);
  const expected = `pushes follow one reading with at most ${pushRun.limits.maxPushes} pushes: ${moments.join("; ")}`;
  const [beyond] = allowed;
  if (beyond !== undefined) {
    const [pushCase] = pushedOf(pushRun, "never");
    const actual = `they follow ${beyond.reading.name}, which has ${beyond.reading.pushes} pushes: ${momentsText(pushCase)}`;
    return { judgement: fail(expected, actual), cases, evidence: pushCase?.pushes ?? [], lacking: [] };
  }
  const { reading, worst, ...nearest } = leastContradicted(fitted, pushRun);
  const actual = `${momentsText(worst?.pushCase)} (${worst?.pushCase.name ?? "none"}); the nearest reading is ${reading?.name ?? "none"}, but ${worst?.why ?? "it does not fit"}`;
  return { judgement: fail(expected, actual), cases, ...nearest };
};

/** Pushes after a slow failure fit none of the readings that the other pushes fit. */
const slowFinding = (fitted: readonly Fitted[], cases: number, pushRun: PushRun): Finding | undefined => {
  if (fitted.some(isAllowed)) return undefined;
  const { reading: _, worst, ...nearest } = leastContradicted(fitted, pushRun);
  for (const { reading, fits } of fitted) {
    const misfits = fits.filter(({ fit }) => fit.kind === "against").map(({ pushCase }) => pushCase);
    const periodMs = periodWithSlow(reading, misfits, pushRun);
    if (periodMs !== undefined)
      return polledFinding({ reading, why: worst?.why ?? "after slow failures", periodMs });
  }
  return {
    judgement: fail(
      `a push that was refused or got no answer is retried like any other: as in the reading ${fitted.map(({ reading }) => reading.name).join(" or ")}, counted from its start or its end`,
      worst === undefined
        ? "it was retried at other moments"
        : `${momentsText(worst.pushCase)} (${worst.pushCase.name}); ${worst.why}`,
    ),
    cases,
    ...nearest,
  };
};

/** The notifications of slow failures that no reading judges, each with the reason. */
const unjudgedIn = (fitted: readonly Fitted[]): readonly string[] => {
  const [first, ...others] = fitted.map(({ fits }) => fits);
  return (first ?? []).flatMap(({ pushCase, fit }, index) =>
    fit.kind === "vague" && others.every((other) => other[index]?.fit.kind === "vague")
      ? [`${pushCase.name}: ${fit.why}`]
      : [],
  );
};

/** The reading that the pushes deviate from least, and how. */
const leastContradicted = (fitted: readonly Fitted[], { latenessMs }: PushRun) => {
  const all = fitted.map(({ reading, fits }) => ({
    reading,
    misfits: fits.flatMap(({ pushCase, fit }) => {
      if (fit.kind === "against") return [{ pushCase, ...fit }];
      if (fit.kind !== "tardy") return [];
      return [{ pushCase, why: fit.why, offBy: fit.byMs / (3 * latenessMs), isLack: true }];
    }),
  }));
  const deviationOf = ({ misfits }: (typeof all)[number]): number =>
    misfits.reduce((sum, { offBy }) => sum + offBy, 0);
  const [{ reading, misfits } = { reading: undefined, misfits: [] }] = all.toSorted(
    (a, b) => deviationOf(a) - deviationOf(b),
  );
  const [worst] = misfits.toSorted((a, b) => b.offBy - a.offBy);
  return {
    reading,
    worst,
    evidence: worst?.pushCase.pushes ?? [],
    /** The notifications whose pushes are late or missing, if that is all that is wrong. */
    lacking: misfits.every(({ isLack }) => isLack) ? misfits.map(({ pushCase }) => pushCase) : [],
    broken: misfits.length,
  };
};

/** A reading would fit, but either the run did not wait long enough or no notification shows a push exactly enough. */
const vagueFinding = (keeping: readonly Fitted[], pushRun: PushRun): Finding | undefined => {
  const vague = keeping.map(({ reading, fits }) => {
    const unwatched = fits.find(({ fit }) => fit.kind === "vague")?.fit;
    if (unwatched?.kind === "vague" && !fits.some(isWatchedOut)) return unwatched.why;
    const coarse = sharpest(reading, pushRun).find(({ widthMs, mostMs }) => widthMs > mostMs);
    return coarse === undefined
      ? undefined
      : `the moment of push ${coarse.index + 1} is known at best to within ${duration(coarse.widthMs)}, but ${duration(coarse.mostMs)} is needed${pushRun.resolutionShare === undefined ? " to tell the readings apart" : ""}`;
  });
  const [reason] = vague;
  return reason !== undefined && vague.every((why) => why !== undefined)
    ? undecidedFinding(reason, { settle: whatHelps(pushRun) })
    : undefined;
};

const isWatchedOut = ({ pushCase, fit }: Fitted["fits"][number]): boolean =>
  pushCase.purpose === "never" && fit.kind === "fits";

/** For each push of a reading, its exactness in the notification that shows it best. */
const sharpest = (reading: Reading, pushRun: PushRun): readonly Exactness[] => {
  const all = timedCases(pushRun).flatMap((pushCase) =>
    exactnessOf(reading, pushCase, optionsFor(pushCase, pushRun), pushRun.resolutionShare),
  );
  return [...Map.groupBy(all, ({ index }) => index).values()].flatMap(
    (group) => group.toSorted((a, b) => a.widthMs - b.widthMs)[0] ?? [],
  );
};

/** The smallest error in a push's moment that would have been noticed, in the first fitting reading. */
const resolutionFact = (allowed: readonly Fitted[], pushRun: PushRun): { readonly resolutionMs?: number } => {
  const widths = allowed
    .slice(0, 1)
    .flatMap(({ reading }) => sharpest(reading, pushRun))
    .map(({ widthMs }) => widthMs);
  return widths.length === 0 ? {} : { resolutionMs: Math.round(Math.max(...widths)) };
};

const whatHelps = ({ clock, isAwaited, resolutionShare }: PushRun): string => {
  const exact = isAwaited ? FASTER : EXACTLY;
  const bound = resolutionShare === undefined ? "" : "; or a larger tolerances.pushResolutionShare";
  return (clock === "real" ? IN_REAL_TIME : exact) + bound;
};

const FASTER =
  "a faster hooks.clock.advance, a clock that stands still unless it is moved, or a less busy machine, so that less time passes between two looks";
const IN_REAL_TIME =
  "longer delays (limits.pushDelaysMs in the profile), or a less busy machine, so that the moments of pushes are known more precisely";
const EXACTLY =
  "hooks.clock.now, and a hooks.clock.advance that answers inFlight: 0 once everything it triggered has ended; or a run in real time";

const instantsText = (reading: Reading): string =>
  instantsOf(reading)
    .map((instant) => duration(instant))
    .join(", ");

/**
 * One row per push: when it came, when each reading expects it after instant failures, and its window in each
 * reading. In milliseconds after the event; a push is early if `beforeMs < earliestMs`, and late if `afterMs
 * > latestMs`.
 */
const scheduleTable = (
  pushCase: PushCase,
  fitted: readonly Fitted[],
  pushRun: PushRun,
): readonly Record<string, unknown>[] => {
  const { triggered } = pushCase;
  // If no reading fits, show missing pushes too.
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
 * Which anchors the pushes allow. Only slow failures tell anchors apart: a push without an answer, or with a
 * late one. Uses a tighter lateness, because the sender's other pushes show how late it is.
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
