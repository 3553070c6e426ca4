import { duration } from "../../contract/duration.ts";
import { fail, pass } from "../case-verdict.ts";
import { UNDISTURBED } from "./blind.ts";
import type { Explanation, Surroundings } from "./explain.ts";
import { undecidedFinding, type Finding } from "./finding.ts";
import { exactnessOf, windowsOf, type Exactness } from "./fits.ts";
import { polledBy } from "./polling.ts";
import { flawText, sendRows } from "./proof.ts";
import { anchors, dueOf, instantsOf, type Anchor, type Reading } from "./readings.ts";
import { latestMs, senderOf, type Explained, type Sender } from "./sender.ts";
import { isSilentFirst, type PushCase, type PushRun, type PushTrace } from "./trace.ts";

/** push.schedule: sections 6 and 8. */
export const judgeSchedule = (pushRun: PushRun): Finding => {
  const sender = senderOf(pushRun);
  const [never] = sender.best.timed.filter(isNever);
  if (never === undefined)
    return undecidedFinding("none of the notifications that are never acknowledged was pushed");
  const keeping = sender.allowed.filter(keepsCap);
  const [kept] = keeping;
  const facts = {
    readings: readingsIn(sender.allowed).map(({ name }) => name),
    ...anchorFacts(sender, pushRun),
    ...(kept === undefined ? {} : resolutionFact(kept, sender.around)),
    schedule: scheduleTable(never.journal.pushCase, sender.all, sender.around),
  };
  const finding = kept === undefined ? misfit(sender, pushRun) : unclear(keeping, pushRun, sender.around);
  return finding === undefined
    ? { judgement: pass, cases: kept?.timed.length ?? 0, facts }
    : { ...finding, facts: { ...facts, ...finding.facts } };
};

/** Names of the readings that no notification contradicts, those beyond the cap included. */
export const readingsThatFit = (trace: PushTrace): readonly string[] => {
  const { best, allowed } = senderOf(trace);
  return best.timed.length === 0 ? [] : readingsIn(allowed).map(({ name }) => name);
};

const isNever = ({ journal }: Explanation): boolean => journal.pushCase.purpose === "never";
const keepsCap = ({ hypothesis: { reading } }: Explained): boolean => reading.keepsCap;

const readingsIn = (explained: readonly Explained[]): readonly Reading[] => [
  ...new Map(explained.map(({ hypothesis: { reading } }) => [reading.name, reading])).values(),
];

/** The pushes fit no reading that keeps to the cap. */
const misfit = (sender: Sender, pushRun: PushRun): Finding => {
  const { best, allowed, all } = sender;
  const [beyond] = allowed;
  const cases = best.timed.length;
  if (beyond !== undefined) {
    const { reading } = beyond.hypothesis;
    const never = beyond.timed.find(isNever);
    return {
      judgement: fail(
        `pushes follow a reading with at most ${pushRun.limits.maxPushes} pushes`,
        `they follow ${reading.name}, which has ${reading.pushes} pushes`,
      ),
      cases,
      evidence: never?.journal.pushCase.pushes ?? [],
      ...(never === undefined ? {} : { facts: { sends: sendRows(never) } }),
    };
  }
  for (const one of all.filter(keepsCap)) {
    const polled = polledBy(one, pushRun);
    if (polled !== undefined)
      return undecidedFinding(polled, {
        settle: "tolerances.latenessMs in the profile, which sets how late a push may be",
      });
  }
  const [worst] = best.flawed.toSorted((a, b) => b.costMs - a.costMs);
  const { reading } = best.hypothesis;
  return {
    judgement: fail(
      `pushes follow one reading, here ${reading.name}: ${instantsText(reading)} after the event`,
      worst === undefined ? "they follow none" : flawText(worst),
    ),
    cases,
    broken: best.flawed.length,
    evidence: worst?.journal.pushCase.pushes ?? [],
    ...(worst === undefined ? {} : { facts: { sends: sendRows(worst) } }),
  };
};

/** A reading would fit, but a connection broke, the run did not wait long enough, or no notification shows a push exactly enough. */
const unclear = (
  keeping: readonly Explained[],
  pushRun: PushRun,
  around: Surroundings,
): Finding | undefined => {
  const lost = keeping.flatMap(({ timed }) => timed.filter((one) => one.lost > 0));
  if (keeping.every(({ timed }) => timed.some((one) => one.lost > 0)))
    return undecidedFinding(
      `a push of ${lost.length === 1 ? "a notification" : "some notifications"} may have been on a connection that broke before the receiver could read it (${lost[0]?.journal.pushCase.name ?? ""})`,
      { settle: UNDISTURBED },
    );
  const why = keeping.map((one): string | undefined => {
    const open = one.timed.find(({ next }) => next !== undefined);
    const isWatchedOut = one.timed.some((another) => isNever(another) && another.next === undefined);
    if (open !== undefined && !isWatchedOut)
      return `push ${open.sends.length + 1} was not waited for long enough`;
    const coarse = sharpest(one, around, pushRun.resolutionShare).find(
      ({ widthMs, mostMs }) => widthMs > mostMs,
    );
    return coarse === undefined
      ? undefined
      : `the moment of push ${coarse.index + 1} is known at best to within ${duration(coarse.widthMs)}, but ${duration(coarse.mostMs)} is needed${pushRun.resolutionShare === undefined ? " to tell the readings apart" : ""}`;
  });
  const [reason] = why;
  return reason !== undefined && why.every((one) => one !== undefined)
    ? undecidedFinding(reason, { settle: whatHelps(pushRun) })
    : undefined;
};

/** For each push of a reading, its exactness in the notification that shows it best. */
const sharpest = (
  { hypothesis: { reading }, timed }: Explained,
  { trace, firstLatenessMs }: Surroundings,
  share: number | undefined,
): readonly Exactness[] => {
  const all = timed.flatMap(({ journal: { event, arrivals, pushCase } }) =>
    pushCase.purpose === "never" || pushCase.purpose === "late"
      ? exactnessOf(
          reading,
          { triggered: event, pushes: arrivals },
          { latenessMs: trace.latenessMs, firstLatenessMs },
          share,
        )
      : [],
  );
  return [...Map.groupBy(all, ({ index }) => index).values()].flatMap(
    (group) => group.toSorted((a, b) => a.widthMs - b.widthMs)[0] ?? [],
  );
};

/** The smallest error in a push's moment that would have been noticed. */
const resolutionFact = (kept: Explained, around: Surroundings): { readonly resolutionMs?: number } => {
  const widths = sharpest(kept, around, undefined).map(({ widthMs }) => widthMs);
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
  all: readonly Explained[],
  { firstLatenessMs, trace: pushRun }: Surroundings,
): readonly Record<string, unknown>[] => {
  const { triggered } = pushCase;
  // If no reading fits, show missing pushes too.
  const allowed = readingsIn(all.filter(({ flawed }) => flawed.length === 0));
  const readings = readingsIn(all);
  const shown = allowed.length > 0 ? allowed : readings.filter(({ keepsCap }) => keepsCap);
  const rows = Math.max(pushCase.pushes.length, ...shown.map(({ pushes }) => pushes));
  const windows = readings.map((reading) => ({
    reading,
    instants: instantsOf(reading),
    windows: windowsOf(reading, pushCase, { ...pushRun, firstLatenessMs }),
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
