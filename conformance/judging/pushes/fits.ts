import type { TimeInterval } from "../interval.ts";
import type { Limits } from "../../contract/limits.ts";
import { tolerances } from "../tolerances.ts";
import { duration } from "../../contract/duration.ts";

import {
  type Reading,
  anchors,
  dueOf,
  lastInstantMs,
  readingsOf,
  type Anchor,
  type History,
} from "./readings.ts";

/** How far pushes may deviate, in milliseconds. */
export interface Tolerance {
  readonly latenessMs: number;
  readonly earlyGuardMs: number;
  /** How late a first push may be, which the document leaves open; defaults to `latenessMs`. */
  readonly firstLatenessMs?: number;
}

/** The tolerances for pushes in a run; `latenessMs` is the profile's, if set. */
export const pushToleranceOf = (
  limits: Pick<Limits, "pushDelaysMs">,
  clock: "virtual" | "real",
  latenessMs: number | undefined,
): Required<Tolerance> => ({
  latenessMs: latenessMs ?? tolerances.pushLateness.default({ limits }),
  earlyGuardMs: tolerances.pushEarliness.default({ limits, clock }),
  firstLatenessMs: tolerances.firstPushLatenessShare.default * (limits.pushDelaysMs[0] ?? 0),
});

/** How late a push with this delay may be, in milliseconds. */
export const allowedLatenessMs = (delayMs: number, { latenessMs }: Pick<Tolerance, "latenessMs">): number =>
  Math.max(latenessMs, delayMs * tolerances.pushLatenessShare.default);

/**
 * From the last events to the end of a watch, in milliseconds: past the last push of any reading, those beyond the cap
 * included, and its lateness.
 */
export const watchMs = (
  limits: Pick<Limits, "pushDelaysMs" | "maxPushes">,
  tolerance: Pick<Tolerance, "latenessMs">,
): number => {
  const firstMs = limits.pushDelaysMs[0] ?? 0;
  const longestMs = Math.max(...readingsOf(limits).flatMap(({ delaysMs }) => delaysMs));
  return lastInstantMs(limits) + allowedLatenessMs(longestMs, tolerance) + firstMs;
};

/** When the next push may come, including lateness, in each reading and anchor that has another push. */
export const nextDue = (
  history: History,
  readings: readonly Reading[],
  counted: readonly Anchor[],
  tolerance: Pick<Tolerance, "latenessMs">,
): readonly TimeInterval[] => {
  const index = history.pushes.length;
  return readings.flatMap((reading) =>
    counted.flatMap((anchor) => {
      const due = dueOf(reading, anchor, index, history);
      const lateMs = allowedLatenessMs(reading.delaysMs[index] ?? 0, tolerance);
      return due === undefined ? [] : [{ ...due, latestMs: due.latestMs + lateMs }];
    }),
  );
};

/** How a push relates to its window; any uncertainty counts in the sender's favour. */
export type Timing = "early" | "on-time" | "late";

export const timingOf = (at: TimeInterval, window: TimeInterval): Timing => {
  if (at.latestMs < window.earliestMs) return "early";
  return at.earliestMs > window.latestMs ? "late" : "on-time";
};

/** The window of the push with this index (from 0), due at `due` after a delay of `delayMs`. */
const windowAround = (
  due: TimeInterval,
  index: number,
  delayMs: number,
  tolerance: Tolerance,
): TimeInterval => ({
  earliestMs: due.earliestMs - tolerance.earlyGuardMs,
  latestMs:
    due.latestMs +
    Math.max(allowedLatenessMs(delayMs, tolerance), index === 0 ? (tolerance.firstLatenessMs ?? 0) : 0),
});

/**
 * The window of each push of a reading, given the pushes before it, whether delays count from a push's start
 * or its failure. Assumes that a missing push comes within its window.
 */
export const windowsOf = (
  reading: Reading,
  { triggered, pushes }: History,
  tolerance: Tolerance,
): readonly TimeInterval[] => {
  const windows: TimeInterval[] = [];
  for (const [index, delayMs] of reading.delaysMs.entries()) {
    const before = Array.from({ length: index }, (_, at) => {
      const expected = windows[at] ?? triggered;
      return pushes[at] ?? { at: expected, ended: expected };
    });
    const dues = anchors.flatMap(
      (anchor) => dueOf(reading, anchor, index, { triggered, pushes: before }) ?? [],
    );
    const due = {
      earliestMs: Math.min(...dues.map(({ earliestMs }) => earliestMs)),
      latestMs: Math.max(...dues.map(({ latestMs }) => latestMs)),
    };
    windows.push(windowAround(due, index, delayMs, tolerance));
  }
  return windows;
};

/** Whether a notification's pushes fit a reading; if not, the first contradiction. */
export type Fit =
  | { readonly kind: "fits" }
  | { readonly kind: "vague"; readonly why: string }
  /** Later than allowed, but no later than a sender that polls for due pushes may be. */
  | { readonly kind: "tardy"; readonly why: string; readonly byMs: number }
  /**
   * `offBy` is the deviation of a push as a share of its delay; a surplus or missing push counts as 1.
   * `isLack` means that the push is late or missing, which may also be because an earlier push went unseen.
   */
  | {
      readonly kind: "against";
      readonly why: string;
      readonly offBy: number;
      readonly isLack: boolean;
    };

export const fits: Fit = { kind: "fits" };

export interface FitOptions extends Tolerance {
  /** Whether the notification stayed unacknowledged, so that every push of the reading must be there. */
  readonly isComplete: boolean;
  readonly watchedUntil: TimeInterval;
  /** How late a push may be and still count as tardy, in milliseconds; default 0. */
  readonly tardyMs?: number;
  /** Index of the first push that is judged; default 0. */
  readonly fromIndex?: number;
  /** Intervals, in order and disjoint, in which the sender may have had no free worker; what is due in one may come after it. */
  readonly busy?: readonly TimeInterval[];
}

/** Compares a history with a reading, push by push. */
export const fitOf = (reading: Reading, anchor: Anchor, history: History, options: FitOptions): Fit => {
  let tardy: Extract<Fit, { kind: "tardy" }> | undefined;
  let index = -1;
  for (const { at } of history.pushes) {
    index += 1;
    const due = dueOf(reading, anchor, index, history);
    if (due === undefined)
      return against(
        `there is a push ${index + 1}, but the reading ${reading.name} has only ${reading.pushes}`,
        1,
      );
    if (index < (options.fromIndex ?? 0)) continue;
    const delayMs = reading.delaysMs[index] ?? 0;
    const late = outlasting(due, allowedLatenessMs(delayMs, options), options.busy);
    const fit = fitOfOne(index, at, late, delayMs, history, options);
    if (fit.kind === "against")
      return { ...fit, why: fit.why + countedTwiceText(reading, anchor, index, history, options) };
    if (fit.kind === "tardy" && fit.byMs > (tardy?.byMs ?? 0)) tardy = fit;
  }
  if (!options.isComplete || history.pushes.length >= reading.pushes) return tardy ?? fits;
  const missing = missingFit(reading, anchor, history, options);
  return missing.kind === "against" ? missing : (tardy ?? missing);
};

/** Whether a push came after the delay of the next one, as it does if the service has counted the one before twice. */
const countedTwiceText = (
  reading: Reading,
  anchor: Anchor,
  index: number,
  history: History,
  options: FitOptions,
): string => {
  const [before, delayMs] = [history.pushes[index - 1], reading.delaysMs[index + 1]];
  const at = history.pushes[index]?.at;
  if (before === undefined || delayMs === undefined || at === undefined || reading.from !== "previous")
    return "";
  const skipping = { ...reading, delaysMs: reading.delaysMs.toSpliced(index, 1) };
  const due = dueOf(skipping, anchor, index, history);
  return due !== undefined && timingOf(at, windowAround(due, index, delayMs, options)) === "on-time"
    ? `; this is the delay of push ${index + 2}, as if push ${index} had been counted twice`
    : "";
};

const against = (why: string, offBy: number, isLack = false): Fit => ({
  kind: "against",
  why,
  offBy,
  isLack,
});

/** What is due before a busy interval ends may come as late as its end. */
const outlasting = (due: TimeInterval, lateMs: number, busy: readonly TimeInterval[] = []): TimeInterval => {
  if (busy.length === 0) return due;
  let { latestMs } = due;
  for (const interval of busy)
    if (interval.earliestMs <= latestMs + lateMs) latestMs = Math.max(latestMs, interval.latestMs);
  return { ...due, latestMs };
};

const fitOfOne = (
  index: number,
  at: TimeInterval,
  due: TimeInterval,
  delayMs: number,
  { triggered }: History,
  options: FitOptions,
): Fit => {
  const wholeMs = Math.max(delayMs, 3 * options.latenessMs);
  const timing = timingOf(at, windowAround(due, index, delayMs, options));
  if (timing === "on-time") return fits;
  const came = (bound: string, momentMs: number): string =>
    `push ${index + 1} came at ${bound} ${duration(Math.max(0, momentMs - triggered.earliestMs))} after the event`;
  if (timing === "early") {
    const byMs = due.earliestMs - at.latestMs;
    return against(`${came("most", at.latestMs)}, ${duration(byMs)} early`, byMs / wholeMs);
  }
  const byMs = at.earliestMs - due.latestMs;
  const why = `${came("least", at.earliestMs)}, ${duration(byMs)} late`;
  return byMs <= (options.tardyMs ?? 0) ? { kind: "tardy", why, byMs } : against(why, byMs / wholeMs, true);
};

/** How exactly a push is known, and how exactly it must be known to tell readings apart, in milliseconds. */
export interface Exactness {
  readonly index: number;
  readonly widthMs: number;
  readonly mostMs: number;
}

/** The exactness of each push that came: the uncertainty of its own moment plus that of its due moment. */
export const exactnessOf = (
  reading: Reading,
  history: History,
  options: Pick<FitOptions, "latenessMs" | "firstLatenessMs">,
  share?: number,
): readonly Exactness[] =>
  history.pushes.flatMap(({ at }, index) => {
    const due = dueOf(reading, "start", index, history);
    if (due === undefined) return [];
    const delayMs = reading.delaysMs[index] ?? 0;
    const shareMs =
      index === 0
        ? (options.firstLatenessMs ?? 0)
        : delayMs * (share ?? tolerances.pushResolutionShare.default);
    const widthMs = at.latestMs - at.earliestMs + (due.latestMs - due.earliestMs);
    const leastMs = index > 0 && share !== undefined ? 0 : options.latenessMs;
    return [{ index, widthMs, mostMs: Math.max(leastMs, shareMs) }];
  });

const missingFit = (reading: Reading, anchor: Anchor, history: History, options: FitOptions): Fit => {
  const index = history.pushes.length;
  const told = dueOf(reading, anchor, index, history);
  if (told === undefined) return against(`push ${index + 1} did not come`, 1, true);
  const lateMs = Math.max(options.tardyMs ?? 0, allowedLatenessMs(reading.delaysMs[index] ?? 0, options));
  const due = outlasting(told, lateMs, options.busy);
  return options.watchedUntil.earliestMs > due.latestMs + lateMs
    ? against(`push ${index + 1} did not come within ${duration(lateMs)} of its time`, 1, true)
    : { kind: "vague", why: `push ${index + 1} was not waited for long enough` };
};

/** The readings that fit the pushes so far with either anchor, whatever may still be missing. */
export const readingsLeft = (
  readings: readonly Reading[],
  history: History,
  tolerance: Tolerance & Pick<FitOptions, "fromIndex">,
): readonly Reading[] => {
  const options = { ...tolerance, isComplete: false, watchedUntil: history.triggered };
  return readings.filter((reading) =>
    anchors.some((anchor) => fitOf(reading, anchor, history, options).kind !== "against"),
  );
};
