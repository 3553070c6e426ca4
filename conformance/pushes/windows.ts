import { isDeepStrictEqual } from "node:util";
import type { TimeInterval } from "../judging/interval.ts";
import { isNever, journalsOf, type Journal } from "../judging/pushes/arrivals.ts";
import { blindOf } from "../judging/pushes/blind.ts";
import { explain, type Explanation, type Hypothesis, type Surroundings } from "../judging/pushes/explain.ts";
import { dueOf, type Reading, timeoutEnds } from "../judging/pushes/readings.ts";
import { silentFirst } from "../judging/pushes/cases.ts";
import { hangs } from "../judging/pushes/journal.ts";
import { busyIn, firstsAlike, hypothesesOf } from "../judging/pushes/sender.ts";
import { isSilentFirst, startsAnswer, type PushCase } from "../judging/pushes/trace.ts";
import { sorted } from "./assign.ts";
import { actionFor } from "./collector.ts";
import { acknowledgement } from "./push-case.ts";
import type { Expected, Known, Next, RunState, StopOptions } from "./state.ts";

/** Every notification that may get more pushes, by the hypotheses that its sender may still follow. */
export const expectedOf = (state: RunState): readonly Expected[] => known(state).list;

/** The readings that the first never-acknowledged notification allows; before it is pushed, those of one that was. */
export const readingsLeft = (state: RunState): readonly Reading[] => [
  ...new Set(known(state).left.map(({ reading }) => reading)),
];

const known = (state: RunState): Known => {
  const { collector, triggered, endsSlowly, outages } = state;
  const revision = `${collector.revision()} ${triggered.length} ${outages.length} ${endsSlowly}`;
  if (state.known?.revision !== revision) state.known = { revision, ...learn(state) };
  return state.known;
};

const learn = (state: RunState): Omit<Known, "revision"> => {
  const trace = soFar(state);
  const blind = blindOf(trace);
  // What was triggered as an outage ended is waited for as if none had been: only these two were meant to meet one.
  const metOutage = ({ pushCase: { purpose } }: Journal): boolean =>
    purpose === "refused" || purpose === "untrusted";
  const journals = journalsOf(trace).map(asIfFailed);
  // On a clock that is moved, what is due is triggered all the same, however busy the sender is.
  const busy = trace.clock === "real" ? busyIn(journals, trace) : [];
  const { firstLatenessMs } = state.tolerance;
  const around: Surroundings = { trace, blind: [], busy, queue: [], firstLatenessMs };
  const exact = journals.find(isNever);
  const all = hypothesesOf(trace.limits);
  // Until it is pushed, what was pushed before tells whether first pushes come at once.
  const witness = [exact, ...journals].find((one) => one !== undefined && one.arrivals.length > 0);
  const fitting =
    witness === undefined ? [] : all.filter((by) => explain(witness, by, around).flaws.length === 0);
  const close = fitting.filter((by) =>
    journals.every((one) => isClose(one, by, CLOSELY * state.stops.fineMs)),
  );
  const left = close.length > 0 ? close : fitting;
  const waitsMs = silentFirst(trace).flatMap(({ pushes: [first] }) =>
    first?.ended === undefined ? [] : [first.ended.latestMs - first.at.latestMs],
  );
  const alike = firstsAlike(journals, { blind });
  const nexts = new Map<Journal, readonly Next[]>();
  const nextsOf = (journal: Journal): readonly Next[] => {
    const first = alike.get(journal) ?? journal;
    const found =
      nexts.get(first) ??
      nextsBy(left.length > 0 ? left : all, first, {
        ...around,
        blind: metOutage(first) ? blind : [],
      });
    nexts.set(first, found);
    return found;
  };
  const list = journals.flatMap((journal): Expected[] => {
    const { pushCase, arrivals } = journal;
    if (arrivals.some(({ ending }) => ending === "acknowledged")) return [];
    const next = nextsOf(journal);
    const isAtCap = arrivals.length >= trace.limits.maxPushes;
    const key = `${pushCase.name} ${arrivals.length}`;
    return [{ pushCase, key, next, closeness: closenessOf(journal, exact, state), isAtCap, waitsMs }];
  });
  return { list, left };
};

/** What may come next, by those of these hypotheses that the notification does not contradict; by all, if it does. */
const nextsBy = (
  hypotheses: readonly Hypothesis[],
  journal: Journal,
  around: Surroundings,
): readonly Next[] => {
  const explanations = hypotheses.map((by) => [by, explain(journal, by, around)] as const);
  const fitting = explanations.filter(([, { flaws }]) => flaws.length === 0);
  return (fitting.length > 0 ? fitting : explanations).flatMap((one) => nextOf(...one));
};

/** Lateness that counts as close, in fine steps: a timeout is longer. */
const CLOSELY = 3;

/** Whether the push after one that got no answer came close to when it is due: that tells what the delays count from. */
const isClose = ({ pushCase, event, arrivals }: Journal, by: Hypothesis, mostMs: number): boolean => {
  const at = isSilentFirst(pushCase) ? arrivals[1]?.at : undefined;
  const due = dueOf(by.reading, by.anchor, 1, { triggered: event, pushes: arrivals });
  return at === undefined || due === undefined || at.earliestMs <= due.latestMs + mostMs;
};

/** An answer that may be no acknowledgement may be followed by another push, and so may one that has not come yet. */
const asIfFailed = (journal: Journal): Journal => ({
  ...journal,
  arrivals: journal.arrivals.map((one) => (one.ending === "open" ? { ...one, ending: "failed" } : one)),
});

const nextOf = ({ reading: { keepsCap } }: Hypothesis, { next }: Explanation): readonly Next[] =>
  next === undefined ? [] : [{ due: next.due, latestMs: next.window.latestMs, keepsCap }];

/** What the judge would see, had watching not ended. */
const soFar = (state: RunState) => {
  const { options, timeline, tolerance, outages, unrestMs } = state;
  return {
    clock: timeline.kind,
    limits: options.limits,
    ...tolerance,
    latenessMs: tolerance.latenessMs + unrestMs(),
    acknowledgedStatus: options.acknowledgedStatus,
    pushCases: sorted(state).pushCases,
    outages,
    watchedUntil: { earliestMs: -Infinity, latestMs: -Infinity },
  };
};

/** The first never-acknowledged notification shows the schedule, and most others share it. */
const closenessOf = (
  { pushCase, arrivals }: Journal,
  exact: Journal | undefined,
  state: RunState,
): Expected["closeness"] => {
  const { purpose, hangsAt, triggered } = pushCase;
  const usual = ((): Expected["closeness"] => {
    if (purpose === "open" || purpose === "untrusted" || startsAnswer(pushCase)) return "loose";
    if (purpose === "refused") return arrivals.length === 0 ? "exact" : "loose";
    if (hangsAt !== undefined) {
      if (arrivals.length > hangsAt) return "loose";
      return arrivals.length === hangsAt && arrivals.at(-1)?.ended !== undefined ? "exact" : "due";
    }
    const isLater = exact !== undefined && triggered.earliestMs > exact.pushCase.triggered.latestMs;
    if (purpose === "silent")
      return isSilentFirst(pushCase, "always") && arrivals.length > 1 ? "due" : "exact";
    if (!isLater) return "exact";
    return exact.arrivals.length > arrivals.length ? "due" : "loose";
  })();
  return usual === "loose" && isInDanger(pushCase, state) ? "due" : usual;
};

/**
 * Whether the next push will be acknowledged, and acknowledgements take long. Meanwhile the clock must not be moved on: a
 * sender that has not received the acknowledgement would give up on it.
 */
const isInDanger = (
  { actions, pushes }: PushCase,
  { options, endsSlowly }: Pick<RunState, "options" | "endsSlowly">,
): boolean =>
  endsSlowly &&
  isDeepStrictEqual(actionFor(actions, pushes.length + 1), acknowledgement(options.acknowledgedStatus));

/** Shares of a fine step within which one stop serves several moments: before a push is due, and after it. */
const [BEFORE, AFTER] = [3 / 4, 3 / 10];
/** How long before a moment that is not exact to stop, in fine steps: the next one is more uncertain by that. */
const SHORTLY = 1 / 3;
/** The step while a push is overdue, as a share of the time for which it has been due. */
const OVERDUE_STEP = 0.1;

/**
 * The next stop for a clock that is moved: at the edges of the windows in which pushes are expected, so that early, punctual
 * and late ones come at different stops.
 */
export const nextStopMs = (nowMs: number, expected: readonly Expected[], options: StopOptions): number => {
  const ahead = expected
    .flatMap((one) => edgesOf(one, nowMs, options))
    .filter(({ earliestMs }) => earliestMs >= nowMs + 1);
  const untilMs = Math.min(nowMs + options.coarseMs, ...ahead.map(({ latestMs }) => latestMs));
  const best = ahead.map(({ bestMs }) => bestMs).filter((ms) => ms <= untilMs);
  return best.length === 0 ? untilMs : Math.max(...best);
};

/** A stop anywhere within it will do, and best at one of its ends. */
interface Edge extends TimeInterval {
  readonly bestMs: number;
}

/** Where stops belong for one notification. */
const edgesOf = (one: Expected, nowMs: number, options: StopOptions): readonly Edge[] => {
  const { fineMs, approach } = options;
  const { closeness, next, pushCase, isAtCap } = one;
  const after = (ms: number): Edge => ({ earliestMs: ms, latestMs: ms + AFTER * fineMs, bestMs: ms });
  const before = (ms: number): Edge => ({ earliestMs: ms - BEFORE * fineMs, latestMs: ms, bestMs: ms });
  if (closeness === "loose" || isAtCap) return [];
  const last = pushCase.pushes.at(-1);
  if (last !== undefined && hangs(last.line))
    return timeoutsOf(one, fineMs).map((ms) => after(last.at.latestMs + ms));
  const overdueMs = nowMs - latestDueMs(one);
  return [
    ...next.flatMap(({ due, latestMs }) => {
      const widthMs = due.latestMs - due.earliestMs;
      const ends = [after(due.latestMs), after(latestMs + 1)];
      if (closeness === "due") return ends;
      const stepMs = fineMs * (widthMs > 0 && approach === 1 ? SHORTLY : 1);
      const steps = Array.from({ length: approach }, (_, n) => before(due.earliestMs - (n + 1) * stepMs));
      // Or each push would be less certain than the one before it.
      return [...steps, ...(widthMs > fineMs ? [after(due.latestMs - widthMs / 2)] : []), ...ends];
    }),
    // A push that every hypothesis misses is watched for in ever longer steps.
    ...(overdueMs >= 0 ? [after(nowMs + patientStepMs(overdueMs, options))] : []),
  ];
};

const patientStepMs = (overdueMs: number, { fineMs, firstDelayMs, latenessMs }: StopOptions): number =>
  overdueMs <= firstDelayMs ? Math.max(fineMs, overdueMs * OVERDUE_STEP) : latenessMs + overdueMs / 2;

/** How long a push may hang: once a sender has given up, it is over by the end of the same class, or of the next. */
const timeoutsOf = ({ waitsMs: [waitedMs] }: Expected, fineMs: number): readonly number[] => {
  const known = waitedMs === undefined ? -1 : timeoutEnds.findIndex((end) => waitedMs <= end * fineMs);
  return (known < 0 ? timeoutEnds : timeoutEnds.slice(known, known + 2)).map((end) => end * fineMs);
};

/** When the next push is due by the last hypothesis; Infinity if there is none. */
const latestDueMs = ({ next }: Expected): number =>
  next.length === 0 ? Infinity : Math.max(...next.map(({ due }) => due.latestMs));

/** Whether a push should have come by now, by every hypothesis. */
export const isOverdue = (nowMs: number, expected: Expected): boolean =>
  !expected.isAtCap && nowMs >= latestDueMs(expected);

/** The latest moment of another push of these notifications, with its lateness. */
export const lastExpectedMs = (
  state: RunState,
  isMeant: (expected: Expected, next: Next) => boolean,
): number =>
  Math.max(
    0,
    ...expectedOf(state).flatMap((one) =>
      one.next.flatMap((next) => (isMeant(one, next) ? [next.latestMs + 1] : [])),
    ),
  );
