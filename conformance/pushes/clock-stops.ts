import type { TimeInterval } from "../judging/interval.ts";
import { allowedLatenessMs, mayFollow, type Tolerance } from "../judging/pushes/fits.ts";
import { timeoutEnds } from "../judging/pushes/timeouts.ts";
import { type Reading, anchors, dueOf, type Anchor, type History } from "../judging/pushes/readings.ts";

/** A notification that may get more pushes, and the readings that its pushes so far allow. */
export interface Watched {
  readonly history: History;
  readonly readings: readonly Reading[];
  /**
   * How closely it is watched. `exact` (default); `near`: early must be told from late; `beside`: others with the same
   * schedule are watched exactly and due shortly before; `coarse`: only whether pushes come matters; `due`: as coarse,
   * but pushes must also be triggered when due; `apart`: as coarse, but what comes when due must be told from what came
   * before; `loose`: pushes may come at any stop.
   */
  readonly closeness?: "exact" | "near" | "beside" | "coarse" | "due" | "apart" | "loose";
  /** When its next push comes if it comes as long after its event as another one did; absent if that was at once. */
  readonly expected?: TimeInterval;
  /** The anchors that its sender was seen to use; absent means both are possible. */
  readonly anchors?: readonly Anchor[];
}

export interface StopOptions extends Tolerance {
  /** The finest step around a predicted moment, in milliseconds. */
  readonly fineMs: number;
  /** The longest step while nothing is expected, in milliseconds. */
  readonly coarseMs: number;
  /** The first delay of the schedule, in milliseconds. */
  readonly firstDelayMs: number;
  /** Pushes beyond this number break the cap whenever they come, so only the longest steps look for them. */
  readonly maxPushes: number;
  /** Number of fine steps before a predicted moment; default 1. Higher if intervals begin one look earlier. */
  readonly approach?: number;
}

/**
 * The next stop for a clock moved by a hook: closely around every moment at which any reading has a push, so that
 * early, punctual and late pushes fall into different steps.
 */
export const nextStopMs = (nowMs: number, watched: readonly Watched[], options: StopOptions): number => {
  const { fineMs } = options;
  const moments = [nowMs + options.coarseMs];
  const befores: number[] = [];
  // Clocks move by whole milliseconds, so less than that is not a step.
  const isAhead = (momentMs: number): boolean => momentMs >= nowMs + 1;
  const consider = (momentMs: number): void => {
    if (isAhead(momentMs)) moments.push(momentMs);
  };
  /** A stop before a due moment tells early pushes from punctual ones; a stop shortly before that serves as well. */
  const considerBefore = (momentMs: number): void => {
    if (isAhead(momentMs) && momentMs - nowMs > fineMs * JUST_BEFORE) befores.push(momentMs);
  };
  const considering = { consider, considerBefore };
  for (const { history, readings, closeness = "exact", anchors: kept, expected } of watched) {
    if (closeness === "loose") continue;
    const isCoarse = closeness === "coarse" || closeness === "due" || closeness === "apart";
    if (history.pushes.length >= options.maxPushes) continue;
    const last = history.pushes.at(-1);
    if (!isCoarse && last !== undefined && last.ended === undefined)
      considerHang(history, last.at, options, consider);
    if (!isCoarse && expected !== undefined) {
      considerBefore(expected.earliestMs);
      consider(expected.latestMs);
    }
    const told = { ...history, pushes: history.pushes.map(asIfOver) };
    const overdueMs = overdueByMs(nowMs, { history: told, readings });
    const hasHung = last?.ended !== undefined && last.ended.latestMs > last.at.latestMs;
    for (const reading of readings)
      for (const anchor of hasHung ? (kept ?? anchorsLeft(reading, told, options)) : (["start"] as const))
        if (isCoarse) considerEnd(reading, anchor, told, { ...options, closeness }, considering);
        else
          considerReading(
            nowMs,
            reading,
            anchor,
            told,
            { ...options, closeness, isLateInAll: overdueMs >= 0 },
            considering,
          );
    // A push should be here in every reading: watch a late sender as closely as a punctual one.
    if (!isCoarse && overdueMs >= 0 && overdueMs <= options.firstDelayMs)
      consider(nowMs + Math.max(fineMs, overdueMs * OVERDUE_STEP));
  }
  const firstMs = Math.min(...moments);
  const beforeMs = Math.min(...befores);
  // Moments close together share one stop, at the last of them.
  return beforeMs < firstMs
    ? beforeMs
    : Math.max(...moments.filter((momentMs) => momentMs <= firstMs + fineMs * TOGETHER));
};

/** Moments within this many fine steps share one stop. */
const TOGETHER = 3 / 10;
/** The same for moments before those at which pushes are due, where this stop is before them as well. */
const JUST_BEFORE = 3 / 4;

/** The anchors that a sender of this reading may use: the one it kept to closely, otherwise both. */
export const anchorsLeft = (reading: Reading, history: History, options: StopOptions): readonly Anchor[] => {
  const strict = { latenessMs: CLOSELY * options.fineMs, earlyGuardMs: 0, fromIndex: 1 };
  const close = anchors.filter((anchor) => mayFollow(reading, anchor, history, strict));
  return close.length === 1 ? close : anchors;
};

/** Lateness that counts as close, in fine steps. */
const CLOSELY = 3;

/** The step while a push is overdue, as a share of the time for which it has been due. */
const OVERDUE_STEP = 0.1;

/** How long before an uncertain due moment to stop, in fine steps; the next one is more uncertain by that. */
const SHORTLY = 1 / 3;

/** The number of steps through a due moment whose uncertainty exceeds a fine step. */
const STRIDES = 2;

/** Proposes a stop, or one that another stop shortly before replaces. */
type Considering = Readonly<Record<"consider" | "considerBefore", (momentMs: number) => void>>;

const considerReading = (
  nowMs: number,
  reading: Reading,
  anchor: Anchor,
  history: History,
  options: StopOptions & Required<Pick<Watched, "closeness">> & { readonly isLateInAll: boolean },
  { consider, considerBefore }: Considering,
): void => {
  const index = history.pushes.length;
  const due = dueOf(reading, anchor, index, history);
  if (due === undefined) return;
  const { fineMs, closeness, isLateInAll } = options;
  const isExact = closeness === "exact";
  const lateMs = allowedLatenessMs(reading.delaysMs[index] ?? 0, options);
  const approach = closeness === "beside" ? 0 : (options.approach ?? 1);
  const widthMs = due.latestMs - due.earliestMs;
  const strideMs = Math.max(fineMs, widthMs / STRIDES);
  // If the moment is uncertain, one stop shortly before its beginning tells as much as one before and one at it.
  const isMerged = isExact && approach === 1 && widthMs > 0;
  for (let step = approach; step > 0; step -= 1)
    considerBefore(due.earliestMs - step * fineMs * (isMerged ? SHORTLY : 1));
  if (isExact)
    for (
      let momentMs = due.earliestMs + (isMerged ? strideMs : 0);
      momentMs <= due.latestMs - strideMs / 2;
      momentMs += strideMs
    )
      consider(momentMs);
  consider(due.latestMs);
  if (isExact) consider(due.latestMs + 2 * fineMs);
  consider(due.latestMs + lateMs + 1);
  // Keep looking for late pushes, in ever longer steps, unless another reading says when to look next.
  const lateByMs = nowMs - due.latestMs - lateMs;
  if (lateByMs > 0 && isLateInAll) consider(nowMs + lateMs + lateByMs / 2);
};

/**
 * Considers when a push is due and when it becomes late, if it is watched as `due`; otherwise only when it has been late
 * for as long as its delay, since another stop probably shows it before.
 */
const considerEnd = (
  reading: Reading,
  anchor: Anchor,
  history: History,
  { closeness, ...options }: StopOptions & Required<Pick<Watched, "closeness">>,
  { consider, considerBefore }: Considering,
): void => {
  const index = history.pushes.length;
  const due = dueOf(reading, anchor, index, history);
  if (due === undefined) return;
  const isDueToo = closeness === "due";
  if (isDueToo) consider(due.latestMs);
  if (closeness === "apart")
    for (let step = options.approach ?? 1; step > 0; step -= 1)
      considerBefore(due.earliestMs - step * options.fineMs);
  const delayMs = reading.delaysMs[index] ?? 0;
  consider(due.latestMs + allowedLatenessMs(delayMs, options) + (isDueToo ? 0 : delayMs) + 1);
};

const asIfOver = (push: History["pushes"][number]): { at: TimeInterval; ended: TimeInterval } => ({
  at: push.at,
  ended: push.ended ?? push.at,
});

/** While a push hangs, stops only at the bounds of timeout classes. */
const considerHang = (
  { pushes }: History,
  at: TimeInterval,
  { fineMs }: StopOptions,
  consider: (momentMs: number) => void,
): void => {
  // Once a sender has given up, its timeout is known: it is over by the end of that class, or of the next.
  const [earlier] = pushes.filter(({ ended }) => ended !== undefined && ended.latestMs > ended.earliestMs);
  const waitedMs = (earlier?.ended?.latestMs ?? 0) - (earlier?.at.latestMs ?? 0);
  const known = waitedMs > 0 ? timeoutEnds.findIndex((end) => waitedMs <= end * fineMs) : -1;
  for (const [index, end] of timeoutEnds.entries())
    if (known < 0 || index === known || index === known + 1) consider(at.latestMs + end * fineMs);
};

/** How long a push has been due in every reading, in milliseconds; negative if it is not due yet in some reading. */
const overdueByMs = (nowMs: number, { history, readings }: Watched): number => {
  const dues = readings.map((reading) => dueOf(reading, "failure", history.pushes.length, history));
  if (dues.length === 0 || dues.some((due) => due === undefined)) return -1;
  return nowMs - Math.max(...dues.map((due) => due?.latestMs ?? Infinity));
};

/** Whether a push should have come by now in every reading. */
export const isOverdue = (nowMs: number, watched: Watched): boolean => overdueByMs(nowMs, watched) >= 0;
