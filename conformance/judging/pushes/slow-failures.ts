import type { TimeInterval } from "../interval.ts";
import { instantsOf, type Reading, anchors, type History } from "./readings.ts";
import type { PushRun, SeenPush, PushCase } from "./trace.ts";
import { ofPurpose } from "./finding.ts";
import { allowedLatenessMs, fitOf, fits, type Fit } from "./fits.ts";
import { optionsFor, usualFirstLagMs } from "./fitted.ts";
import { merged } from "../intervals.ts";
import { metEnding, type MetEnding } from "./later-endings.ts";

/*
 * Failures that take their time, and one that leaves no trace: a push without an answer has failed when its sender gives it
 * up, and a refused connection reaches no receiver. Their schedules are known as exactly as those moments are.
 */

/** Notifications whose first push took long to fail, or was refused. */
export const slowPushCases = (pushRun: PushRun): readonly PushCase[] => [
  ...ofPurpose(pushRun, "hang", "unanswered").filter(({ pushes }) => pushes.length > 0),
  ...ofPurpose(pushRun, "refused").filter(({ pushes }) => pushes.length > 0),
  ...ofPurpose(pushRun, "ending").filter((pushCase) => metEnding(pushCase, pushRun) !== undefined),
];

/** Whether such a notification's pushes can be what a reading predicts, with one anchor or the other. */
export const slowFit = (reading: Reading, pushCase: PushCase, pushRun: PushRun): Fit => {
  if (pushCase.purpose === "refused") return refusedFit(reading, pushCase, pushRun);
  const met = metEnding(pushCase, pushRun);
  return met === undefined
    ? unansweredFit(reading, pushCase, pushRun)
    : endingFit(reading, pushCase, met, pushRun);
};

/** When pushes were left without an answer: a sender with few workers sends nothing else meanwhile. */
const busyIntervals = ({ pushCases }: PushRun): readonly TimeInterval[] =>
  merged(
    pushCases
      .filter(({ purpose }) => slowPurposes.includes(purpose))
      .flatMap(({ pushes }) => pushes)
      .filter(takesLong)
      .map(({ at, ended }) => ({ earliestMs: at.earliestMs, latestMs: ended?.latestMs ?? Infinity })),
  );

const slowPurposes: readonly PushCase["purpose"][] = ["hang", "unanswered", "stall", "ending"];

const takesLong = ({ line, action }: SeenPush): boolean =>
  line.action === "hang" || (action?.kind === "answer" && (action.delayMs ?? 0) > 0);

const unansweredFit = (reading: Reading, pushCase: PushCase, pushRun: PushRun): Fit => {
  // Where a sender's time-out goes by another clock than its schedule, the end of a push is a matter of neither.
  if (pushRun.hungInRealTime) return fits;
  const options = {
    ...optionsFor(pushCase, pushRun),
    isComplete: pushCase.purpose === "unanswered" && pushRun.clock === "virtual",
    // The first one waits in line as any other does, which is judged where they are.
    fromIndex: 1,
    busy: busyIntervals(pushRun),
    tardyMs: 0,
  };
  const either = anchors.map((anchor) => fitOf(reading, anchor, pushCase, options));
  return either.find(({ kind }) => kind !== "against") ?? either.at(-1) ?? fits;
};

/** What follows a later push that was refused, or that got no answer. */
const endingFit = (reading: Reading, pushCase: PushCase, { pushes }: MetEnding, pushRun: PushRun): Fit => {
  const options = {
    ...optionsFor(pushCase, pushRun),
    isComplete: false,
    fromIndex: pushCase.meets?.push ?? 1,
    busy: busyIntervals(pushRun),
    tardyMs: 0,
  };
  const either = anchors.map((anchor) =>
    fitOf(reading, anchor, { triggered: pushCase.triggered, pushes }, options),
  );
  return either.find(({ kind }) => kind !== "against") ?? either.at(-1) ?? fits;
};

/** Whether the receiver listened again before a second push was due: only then is the number of unseen pushes known. */
export const losesOneAlone = (
  reading: Reading,
  { triggered }: PushCase,
  { outages, earlyGuardMs }: PushRun,
): boolean => {
  const overMs = outages.find(({ kind }) => kind === "closed")?.overMs ?? -Infinity;
  const secondMs = triggered.earliestMs + (instantsOf(reading)[1] ?? Infinity);
  return overMs < secondMs - earlyGuardMs;
};

/** The first push was due while the receiver was closed; later pushes show whether it was sent. */
const refusedFit = (reading: Reading, pushCase: PushCase, pushRun: PushRun): Fit => {
  if (!losesOneAlone(reading, pushCase, pushRun)) return fits;
  const dueMs = reading.delaysMs[0] ?? 0;
  const unseen = {
    earliestMs: pushCase.triggered.earliestMs + dueMs,
    latestMs: pushCase.triggered.latestMs + dueMs + usualFirstLagMs(reading, pushRun),
  };
  const history: History = {
    triggered: pushCase.triggered,
    pushes: [{ at: unseen, ended: unseen }, ...pushCase.pushes],
  };
  const options = { ...optionsFor(pushCase, pushRun), isComplete: true };
  const wasRefused = fitOf(reading, "start", history, { ...options, fromIndex: 1 });
  if (wasRefused.kind !== "against") return wasRefused;
  // It may have come late, when the door was open again.
  const lateMs = allowedLatenessMs(pushRun.limits.pushDelaysMs[0] ?? 0, pushRun);
  const wasLate = fitOf(reading, "start", pushCase, { ...options, tardyMs: lateMs });
  if (wasLate.kind !== "against") return fits;
  return {
    ...wasRefused,
    why: wasRefused.why.replace(/\bpush \d+/, (text) => `${text} (the first was refused)`),
  };
};
