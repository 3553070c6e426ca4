import type { TimeInterval } from "../interval.ts";
import type { Limits } from "../../contract/limits.ts";
import { tolerances } from "../tolerances.ts";

import { type Reading, anchors, dueOf, lastInstantMs, readingsOf, type History } from "./readings.ts";

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
  const longestMs = Math.max(...readingsOf(limits).flatMap(({ delaysMs }) => delaysMs));
  return lastInstantMs(limits) + allowedLatenessMs(longestMs, tolerance);
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
