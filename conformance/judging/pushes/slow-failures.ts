import type { TimeInterval } from "../interval.ts";
import { instantsOf, type Reading, anchors, type History } from "./readings.ts";
import type { PushRun, SeenPush, PushCase } from "./trace.ts";
import { ofPurpose, pushedOf } from "./finding.ts";
import { allowedLatenessMs, fitOf, fits, type Fit } from "./fits.ts";
import { optionsFor, usualFirstLagMs } from "./fitted.ts";
import { merged } from "../intervals.ts";
import { outlastsLag } from "./lag.ts";
import { metEndingAtFirst } from "./later-endings.ts";

/*
 * Slow failures, and one that leaves no trace: an unanswered push has failed once its sender gives up, and a
 * refused connection never reaches the receiver. Their schedules are known only as exactly as those moments
 * are.
 */

/** Notifications whose first push was refused or took long to fail, or whose later push met such a failure. */
export const slowPushCases = (pushRun: PushRun): readonly PushCase[] => [
  ...pushedOf(pushRun, "hang", "unanswered"),
  ...pushedOf(pushRun, "refused"),
  ...ofPurpose(pushRun, "ending").filter((pushCase) => metEndingAtFirst(pushCase, pushRun) !== undefined),
];

/** Whether the pushes of a slow notification fit a reading with either anchor. */
export const slowFit = (reading: Reading, pushCase: PushCase, pushRun: PushRun): Fit => {
  if (pushCase.purpose === "refused") return refusedFit(reading, pushCase, pushRun);
  const met = metEndingAtFirst(pushCase, pushRun);
  // The sender's timeout runs on another clock than its schedule, so the end of a push is known on neither.
  if (met === undefined && pushRun.hungInRealTime)
    return { kind: "vague", why: "its sender gives up in real time, not on the clock of its schedule" };
  const options = {
    ...optionsFor(pushCase, pushRun),
    isComplete: pushCase.purpose === "unanswered" && pushRun.clock === "virtual",
    // Only what follows the slow failure is judged: a first push waits in line like any other.
    fromIndex: pushCase.meets?.push ?? 1,
    busy: busyIntervals(pushRun),
    tardyMs: 0,
  };
  const either = anchors.map((anchor) => fitOf(reading, anchor, { ...pushCase, ...met }, options));
  return either.find(({ kind }) => kind !== "against") ?? either.at(-1) ?? fits;
};

/** When pushes were left unanswered: a sender with few workers sends nothing else meanwhile. */
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

/**
 * Whether the first push met the closed receiver, and the receiver listened again before a second one was due; only then
 * is the number of unseen pushes known.
 */
export const losesOneAlone = (reading: Reading, { triggered }: PushCase, pushRun: PushRun): boolean => {
  const { outages, earlyGuardMs } = pushRun;
  const outage = outages.find(({ kind }) => kind === "closed");
  const overMs = outage?.overMs ?? -Infinity;
  if (outage !== undefined && !outlastsLag(outage, pushRun)) return false;
  const secondMs = triggered.earliestMs + (instantsOf(reading)[1] ?? Infinity);
  return overMs < secondMs - earlyGuardMs;
};

/** The first push was due while the receiver was closed; later pushes show whether it was sent. */
const refusedFit = (reading: Reading, pushCase: PushCase, pushRun: PushRun): Fit => {
  if (!losesOneAlone(reading, pushCase, pushRun))
    return { kind: "vague", why: "how many of its pushes met the closed receiver is unknown" };
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
  if (wasRefused.kind !== "against") return fits;
  const lateMs = allowedLatenessMs(pushRun.limits.pushDelaysMs[0] ?? 0, pushRun);
  const wasLate = fitOf(reading, "start", pushCase, { ...options, tardyMs: lateMs });
  if (wasLate.kind !== "against")
    return { kind: "vague", why: "its first push may have come late, after the receiver listened again" };
  return {
    ...wasRefused,
    why: wasRefused.why.replace(/\bpush \d+/, (text) => `${text} (the first was refused)`),
  };
};
