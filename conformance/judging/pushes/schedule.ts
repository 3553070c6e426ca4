import { duration } from "../../contract/duration.ts";
import { given } from "../../contract/given.ts";
import type { Facts } from "../../contract/verdict.ts";
import type { TimeInterval } from "../interval.ts";
import { tolerances } from "../tolerances.ts";
import { isNever } from "./arrivals.ts";
import { lostOn } from "./blind.ts";
import { IN_FLIGHT, type Doubt } from "./cases.ts";
import type { Surroundings } from "./explain.ts";
import {
  findingOf,
  stoppedBefore,
  undecided,
  withoutPush,
  type Finding,
  type Part,
  flawText,
} from "./finding.ts";
import { windowsOf, anchors, dueOf, instantsOf, type Anchor, type Reading } from "./readings.ts";
import { coarseSender } from "./polling.ts";
import { latestMs, senderOf, type Explained, type Sender } from "./sender.ts";
import { isSilentFirst, type PushCase, type PushRun, type PushTrace } from "./trace.ts";

/** push.schedule: sections 6 and 8. */
export const judgeSchedule = (pushRun: PushRun): Finding => {
  const sender = senderOf(pushRun);
  const none = withoutPush("none of the notifications that are never acknowledged was pushed");
  const [never] = sender.best.timed.filter(({ journal }) => isNever(journal));
  if (never === undefined) return undecided(none);
  const keeping = sender.allowed.filter(keepsCap);
  const [kept] = keeping;
  const facts = {
    readings: readingsIn(sender.allowed).map(({ name }) => name),
    ...anchorFacts(sender, pushRun),
    ...(kept === undefined ? {} : resolutionFact(kept, sender.around)),
    schedule: scheduleTable(shownOf(sender) ?? never.journal.pushCase, sender.all, sender.around),
  };
  const doubt = kept === undefined ? coarseSender(sender) : unclear(keeping, pushRun, sender.around);
  if (doubt !== undefined) return undecided(doubt, facts);
  return findingOf(
    kept === undefined ? misfits(sender, pushRun) : kept.timed.map(() => "passed"),
    none,
    facts,
  );
};

/** Names of the readings that no notification contradicts, those beyond the cap included. */
export const readingsThatFit = (trace: PushTrace): readonly string[] => {
  const { best, allowed } = senderOf(trace);
  return best.timed.length === 0 ? [] : readingsIn(allowed).map(({ name }) => name);
};

/** Where no reading fits, the notification that is furthest from one. */
const shownOf = ({ best, allowed }: Sender): PushCase | undefined =>
  allowed.length > 0 ? undefined : byCost(best)[0]?.journal.pushCase;

const byCost = ({ timed }: Explained): Explained["timed"] => timed.toSorted((a, b) => b.costMs - a.costMs);

const keepsCap = ({ hypothesis: { reading } }: Explained): boolean => reading.keepsCap;

const readingsIn = (explained: readonly Explained[]): readonly Reading[] => [
  ...new Map(explained.map(({ hypothesis: { reading } }) => [reading.name, reading])).values(),
];

/** What the notifications show of a sender whose pushes fit no reading that keeps to the cap. */
const misfits = ({ best, allowed: [beyond] }: Sender, { limits }: PushRun): readonly Part[] => {
  const { reading } = (beyond ?? best).hypothesis;
  return byCost(beyond ?? best).map((shown): Part => {
    if (beyond === undefined ? shown.flaws.length === 0 : !isNever(shown.journal)) return "passed";
    const { name, pushes } = shown.journal.pushCase;
    return {
      expected: `pushes follow one reading of the schedule with at most ${limits.maxPushes} pushes`,
      actual:
        beyond === undefined
          ? flawText(shown)
          : `they follow ${reading.name}, which has ${reading.pushes} pushes`,
      evidence: pushes,
      name,
      shown,
    };
  });
};

/** A reading would fit, but a connection broke, the run did not wait long enough, or no notification shows a push exactly enough. */
const unclear = (
  keeping: readonly Explained[],
  pushRun: PushRun,
  around: Surroundings,
): Doubt | undefined => {
  const [lost] = keeping.flatMap(({ timed }) => timed.filter((one) => one.lost > 0));
  if (lost !== undefined && keeping.every(({ timed }) => timed.some((one) => one.lost > 0)))
    return lostOn(pushRun, `one of ${lost.journal.pushCase.name}`);
  const doubts = keeping.map((one): Doubt | undefined => {
    const open = one.timed.find(({ next }) => next !== undefined);
    const isWatchedOut = one.timed.some((another) => isNever(another.journal) && another.next === undefined);
    if (open?.next !== undefined && !isWatchedOut)
      return stoppedBefore(
        `push ${open.sends.length + 1} was overdue`,
        open.next.window.latestMs - pushRun.watchedUntil.earliestMs,
        pushRun,
      );
    const coarse = sharpest(one, around, pushRun.resolutionShare).find(
      ({ widthMs, mostMs }) => widthMs > mostMs,
    );
    return coarse && tooCoarse(coarse, pushRun);
  });
  return doubts.every((one) => one !== undefined) ? doubts[0] : undefined;
};

/** How exactly a push is known, and how exactly it must be known to tell readings apart, in milliseconds. */
interface Exactness {
  readonly index: number;
  readonly widthMs: number;
  readonly mostMs: number;
  readonly delayMs: number;
}

/** For each push of a reading, its exactness in the notification that shows it best. */
const sharpest = (
  { hypothesis: { reading }, timed }: Explained,
  { trace: { latenessMs }, firstLatenessMs }: Surroundings,
  share: number | undefined,
): readonly Exactness[] => {
  const shown = timed
    .filter(({ journal: { pushCase } }) => pushCase.purpose === "never" || pushCase.purpose === "late")
    .map(({ sends }) => sends);
  return reading.delaysMs.flatMap((delayMs, index): Exactness[] => {
    // The uncertainty of its own moment plus that of its due moment.
    const widths = shown.flatMap(({ [index]: send }) =>
      send?.arrival === undefined || send.due === undefined ? [] : [lengthOf(send.at) + lengthOf(send.due)],
    );
    if (widths.length === 0) return [];
    const shareMs =
      index === 0 ? firstLatenessMs : delayMs * (share ?? tolerances.pushResolutionShare.default);
    const leastMs = index > 0 && share !== undefined ? 0 : latenessMs;
    return [{ index, widthMs: Math.min(...widths), mostMs: Math.max(leastMs, shareMs), delayMs }];
  });
};

const lengthOf = ({ earliestMs, latestMs: lastMs }: TimeInterval): number => lastMs - earliestMs;

/** The smallest error in a push's moment that would have been noticed. */
const resolutionFact = (kept: Explained, around: Surroundings): { readonly resolutionMs?: number } => {
  const widths = sharpest(kept, around, undefined).map(({ widthMs }) => widthMs);
  return widths.length === 0 ? {} : { resolutionMs: Math.round(Math.max(...widths)) };
};

const tooCoarse = (
  { index, widthMs, mostMs, delayMs }: Exactness,
  { clock, isAwaited, isMovedOnly, resolutionShare }: PushRun,
): Doubt => {
  const share = Math.ceil((100 * widthMs) / delayMs) / 100;
  const isShare = resolutionShare !== undefined || isMovedOnly === true;
  const byTarget = isAwaited
    ? `a faster hooks.clock.advance, so that less than ${duration(mostMs)} pass between two looks`
    : IN_FLIGHT;
  const byClock =
    clock === "real"
      ? `limits.pushDelaysMs at least ${Math.ceil((10 * widthMs) / mostMs) / 10} times as long`
      : byTarget;
  return {
    why: `the moment of push ${index + 1} is known at best to within ${duration(widthMs)}, but ${duration(mostMs)} is needed`,
    settle:
      index > 0 && isShare && share <= 1 ? `tolerances.pushResolutionShare of at least ${share}` : byClock,
  };
};

/**
 * One row per push: when it came, when each reading expects it after instant failures, and its window in each
 * reading. In milliseconds after the event; a push is early if `beforeMs < earliestMs`, and late if `afterMs
 * > latestMs`.
 */
const scheduleTable = (
  pushCase: PushCase,
  all: readonly Explained[],
  { firstLatenessMs, trace }: Surroundings,
): readonly Facts[] => {
  const { triggered, pushes } = pushCase;
  // If no reading fits, show missing pushes too.
  const fitting = readingsIn(all.filter(({ flawed }) => flawed.length === 0));
  const shown = fitting.length > 0 ? fitting : readingsIn(all.filter(keepsCap));
  const readings = readingsIn(all).map((reading) => ({
    name: reading.name,
    instants: instantsOf(reading),
    windows: windowsOf(reading, pushCase, { ...trace, firstLatenessMs }),
  }));
  return Array.from({ length: Math.max(pushes.length, ...shown.map((one) => one.pushes)) }, (_, index) => {
    const at = pushes[index]?.at;
    const byName = (valueOf: (window: TimeInterval, instantMs: number | undefined) => number | undefined) =>
      Object.fromEntries(
        readings.flatMap(({ name, instants, windows: { [index]: window } }) =>
          window === undefined ? [] : [[name, valueOf(window, instants[index])]],
        ),
      );
    return given({
      push: index + 1,
      afterMs: at && Math.round(Math.max(0, at.earliestMs - triggered.latestMs)),
      beforeMs: at && Math.round(at.latestMs - triggered.earliestMs),
      expectedMs: byName((_window, instantMs) => instantMs),
      earliestMs: byName(({ earliestMs }) => Math.round(earliestMs - triggered.earliestMs)),
      latestMs: byName((window) => Math.round(window.latestMs - triggered.latestMs)),
    });
  });
};

/**
 * Which anchors the pushes allow. Only a push without an answer, or with a late one, tells anchors apart, and only with
 * the lateness that the sender's other pushes show.
 */
const anchorFacts = (
  { allowed, around }: Sender,
  { limits }: PushRun,
): { readonly anchors?: readonly Anchor[] } => {
  const [first] = allowed.toSorted((a, b) => Number(keepsCap(b)) - Number(keepsCap(a)));
  const hung = (first?.timed ?? []).filter(
    ({ journal: { pushCase, arrivals } }) => isSilentFirst(pushCase) && arrivals.length > 1,
  );
  if (first === undefined || hung.length === 0) return {};
  const leastMs = latestMs(first) + (limits.pushDelaysMs[0] ?? 0) / 15;
  const left = anchors.filter((anchor) =>
    hung.every(({ journal: { event, arrivals } }) => {
      const [before, second] = arrivals;
      const due =
        before && dueOf(first.hypothesis.reading, anchor, 1, { triggered: event, pushes: [before] });
      if (due === undefined || second === undefined) return true;
      return (
        second.at.latestMs >= due.earliestMs - around.trace.earlyGuardMs &&
        second.at.earliestMs <= due.latestMs + leastMs
      );
    }),
  );
  return { anchors: left.length === 0 ? anchors : left };
};
