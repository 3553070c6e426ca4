import type { TimeInterval } from "../judging/interval.ts";
import { allowedLatenessMs, fitOf, type Tolerance } from "../judging/pushes/fits.ts";
import { timeoutEnds } from "../judging/pushes/timeouts.ts";
import { type Reading, anchors, dueOf, type Anchor, type History } from "../judging/pushes/readings.ts";

/** One notification that more pushes may come of, and the readings that its pushes so far allow. */
export interface Watched {
  readonly history: History;
  readonly readings: readonly Reading[];
  /**
   * How closely it is watched: `exact` by default; `near` where a push has to be told from an early and a late one;
   * `beside` where others of the same schedule that are watched exactly are due shortly before; `coarse` where it matters
   * only whether pushes come; `due` where they also have to be set off when they are due; `loose` where they may come
   * at any stop.
   */
  readonly closeness?: "exact" | "near" | "beside" | "coarse" | "due" | "loose";
  /** What its sender was seen to count delays from; both are possible if absent. */
  readonly anchors?: readonly Anchor[];
}

export interface StopOptions extends Tolerance {
  /** The finest step around a predicted instant, in milliseconds. */
  readonly fineMs: number;
  /** The longest step where nothing is expected. */
  readonly coarseMs: number;
  /** The first delay of the schedule. */
  readonly firstDelayMs: number;
  /** Pushes beyond so many break the cap whenever they come: they are looked for in the longest steps alone. */
  readonly maxPushes: number;
  /** How many fine steps before a predicted instant; default 1. More if intervals begin a look earlier. */
  readonly approach?: number;
}

/**
 * Where a clock that is moved by hand has to stop next: closely around every moment at which
 * any reading has a push, so that what comes early, in time and late fall into different steps.
 */
export const nextStopMs = (nowMs: number, watched: readonly Watched[], options: StopOptions): number => {
  const { fineMs } = options;
  const moments = [nowMs + options.coarseMs];
  const befores: number[] = [];
  // Less than a millisecond further is no step: clocks are moved by whole ones.
  const isAhead = (momentMs: number): boolean => momentMs >= nowMs + 1;
  const consider = (momentMs: number): void => {
    if (isAhead(momentMs)) moments.push(momentMs);
  };
  /** What is due is told from what came early by a stop before it: one shortly before that does as well. */
  const considerBefore = (momentMs: number): void => {
    if (isAhead(momentMs) && momentMs - nowMs > fineMs * TOGETHER) befores.push(momentMs);
  };
  for (const { history, readings, closeness = "exact", anchors: kept } of watched) {
    if (closeness === "loose") continue;
    const isCoarse = closeness === "coarse" || closeness === "due";
    if (history.pushes.length >= options.maxPushes) continue;
    const last = history.pushes.at(-1);
    if (!isCoarse && last !== undefined && last.ended === undefined)
      considerHang(history, last.at, options, consider);
    const told = { ...history, pushes: history.pushes.map(asIfOver) };
    const hasHung = last?.ended !== undefined && last.ended.latestMs > last.at.latestMs;
    for (const reading of readings)
      for (const anchor of hasHung ? (kept ?? anchorsLeft(reading, told, options)) : (["start"] as const))
        if (isCoarse) considerEnd(reading, anchor, told, options, consider, closeness === "due");
        else
          considerReading(
            nowMs,
            reading,
            anchor,
            told,
            { ...options, closeness },
            { consider, considerBefore },
          );
    // Whichever reading it is, the push should be here: a sender that is late is watched as closely as one in time.
    const overdueMs = overdueByMs(nowMs, { history: told, readings });
    if (!isCoarse && overdueMs >= 0 && overdueMs <= options.firstDelayMs)
      consider(nowMs + Math.max(fineMs, overdueMs * OVERDUE_STEP));
  }
  const firstMs = Math.min(...moments);
  const beforeMs = Math.min(...befores);
  // Moments that lie together have one stop, at the last of them.
  return beforeMs < firstMs
    ? beforeMs
    : Math.max(...moments.filter((momentMs) => momentMs <= firstMs + fineMs * TOGETHER));
};

/** Moments so many fine steps apart have one stop. */
const TOGETHER = 1 / 4;

/** The anchors that a sender of this reading still may have: the one that it kept to closely, or else both. */
export const anchorsLeft = (reading: Reading, history: History, options: StopOptions): readonly Anchor[] => {
  const strict = {
    latenessMs: CLOSELY * options.fineMs,
    earlyGuardMs: 0,
    fromIndex: 1,
    isComplete: false,
    watchedUntil: history.triggered,
  };
  const close = anchors.filter((anchor) => fitOf(reading, anchor, history, strict).kind !== "against");
  return close.length === 1 ? close : anchors;
};

/** So many fine steps late is close. */
const CLOSELY = 3;

/** The steps in which an overdue push is looked for, as a share of the time that it has been due for. */
const OVERDUE_STEP = 0.1;

/** An instant that is known to more than a fine step is gone through in so many steps. */
const STRIDES = 2;

const considerReading = (
  nowMs: number,
  reading: Reading,
  anchor: Anchor,
  history: History,
  options: StopOptions & Required<Pick<Watched, "closeness">>,
  { consider, considerBefore }: Readonly<Record<"consider" | "considerBefore", (momentMs: number) => void>>,
): void => {
  const index = history.pushes.length;
  const due = dueOf(reading, anchor, index, history);
  if (due === undefined) return;
  const { fineMs, closeness } = options;
  const isExact = closeness === "exact";
  const lateMs = allowedLatenessMs(reading.delaysMs[index] ?? 0, options);
  const approach = closeness === "beside" ? 0 : (options.approach ?? 1);
  for (let step = approach; step > 0; step -= 1) considerBefore(due.earliestMs - step * fineMs);
  const strideMs = Math.max(fineMs, (due.latestMs - due.earliestMs) / STRIDES);
  if (isExact)
    for (let momentMs = due.earliestMs; momentMs < due.latestMs; momentMs += strideMs) consider(momentMs);
  consider(due.latestMs);
  if (isExact) consider(due.latestMs + 2 * fineMs);
  consider(due.latestMs + lateMs + 1);
  // What is late already is not lost sight of: the longer it has been due, the longer the steps.
  const lateByMs = nowMs - due.latestMs - lateMs;
  if (lateByMs > 0) consider(nowMs + lateMs + lateByMs / 2);
};

/** When a push is late, and when it is due. */
const considerEnd = (
  reading: Reading,
  anchor: Anchor,
  history: History,
  options: StopOptions,
  consider: (momentMs: number) => void,
  isDueToo: boolean,
): void => {
  const index = history.pushes.length;
  const due = dueOf(reading, anchor, index, history);
  if (due === undefined) return;
  if (isDueToo) consider(due.latestMs);
  consider(due.latestMs + allowedLatenessMs(reading.delaysMs[index] ?? 0, options) + 1);
};

const asIfOver = (push: History["pushes"][number]): { at: TimeInterval; ended: TimeInterval } => ({
  at: push.at,
  ended: push.ended ?? push.at,
});

/** While a push hangs, stops only where one class of time-outs ends and the next begins. */
const considerHang = (
  { pushes }: History,
  at: TimeInterval,
  { fineMs }: StopOptions,
  consider: (momentMs: number) => void,
): void => {
  // Once a sender has given up, it is known when it will again.
  const [earlier] = pushes.filter(({ ended }) => ended !== undefined && ended.latestMs > ended.earliestMs);
  const waitedMs = (earlier?.ended?.latestMs ?? 0) - (earlier?.at.latestMs ?? 0);
  const known = waitedMs > 0 ? timeoutEnds.findIndex((end) => waitedMs <= end * fineMs) : -1;
  for (const [index, end] of timeoutEnds.entries())
    if (known < 0 || Math.abs(index - known) <= 1) consider(at.latestMs + end * fineMs);
};

/** For how long a push has been due, whichever of the readings it is that the service follows; negative where one of them still has time. */
const overdueByMs = (nowMs: number, { history, readings }: Watched): number => {
  const dues = readings.map((reading) => dueOf(reading, "failure", history.pushes.length, history));
  if (dues.length === 0 || dues.some((due) => due === undefined)) return -1;
  return nowMs - Math.max(...dues.map((due) => due?.latestMs ?? Infinity));
};

/** Whether a push should have come by now, whichever of the readings it is that the service follows. */
export const isOverdue = (nowMs: number, watched: Watched): boolean => overdueByMs(nowMs, watched) >= 0;
