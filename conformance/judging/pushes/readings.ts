import type { Limits } from "../../contract/limits.ts";
import { from, shift, type TimeInterval } from "../interval.ts";
import { duration } from "../../contract/duration.ts";
import { tolerances } from "../tolerances.ts";

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
type Timing = "early" | "on-time" | "late";

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

/**
 * Upper ends of the classes of sender timeouts, in thirtieths of the first delay (seconds, by the document).
 * They lie between common timeout values.
 */
export const timeoutEnds = [1.5, 3.5, 7, 12.5, 17.5, 24, 45, 90] as const;

const names = [
  "about 1 s",
  "2 to 3 s",
  "about 5 s",
  "about 10 s",
  "about 15 s",
  "about 20 s",
  "about 30 s",
  "about 60 s",
] as const;

/** The class of a timeout. If the first delay is not the document's, classes scale with it and are named by their ends. */
export const timeoutClass = (waitedMs: number, firstDelayMs: number): string => {
  const thirtiethMs = firstDelayMs / 30;
  const index = timeoutEnds.findIndex((end) => waitedMs <= end * thirtiethMs);
  if (firstDelayMs === 30_000) return names[index] ?? "longer than 90 s";
  const endMs = (at: number): number => Math.round((timeoutEnds[at] ?? 0) * thirtiethMs);
  return index < 0
    ? `longer than ${duration(endMs(timeoutEnds.length - 1))}`
    : `${index === 0 ? "up to" : `${duration(endMs(index - 1))} to`} ${duration(endMs(index))}`;
};

export const readingNames = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"] as const;
export type ReadingName = (typeof readingNames)[number];

/** A reading of the schedule (section 6) with the limits of the run. */
export interface Reading {
  readonly name: ReadingName;
  /** How many pushes a never-acknowledged notification gets. */
  readonly pushes: number;
  readonly keepsCap: boolean;
  /** The most pushes that the limits allow. */
  readonly cap: number;
  /** What delays count from: the previous push, the first push, or the event. */
  readonly from: "previous" | "first" | "event";
  /** The delay of each push, in milliseconds; the first counts from the event. */
  readonly delaysMs: readonly number[];
}

type ScheduleLimits = Pick<Limits, "pushDelaysMs" | "maxPushes">;

/** The n-th delay, from 1. Beyond the document's list, delays grow by the factor between its last two. */
const delayMs = ({ pushDelaysMs }: ScheduleLimits, n: number): number => {
  const listed = pushDelaysMs[n - 1];
  if (listed !== undefined) return listed;
  const [last = 0, before = last / 2] = pushDelaysMs.toReversed();
  return last * Math.max(1, last / before) ** (n - pushDelaysMs.length);
};

/** All readings, for the limits of the run. Section 6: "delayed pushes at ..., each later one further delayed". */
export const readingsOf = (limits: ScheduleLimits): readonly Reading[] => {
  const { maxPushes: most, pushDelaysMs } = limits;
  const delays = (from: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => delayMs(limits, from + index));
  const listed = Math.min(most, pushDelaysMs.length);
  const longest = Math.max(...pushDelaysMs);
  const reading = (name: ReadingName, from: Reading["from"], delaysMs: readonly number[]): Reading => ({
    name,
    from,
    delaysMs,
    pushes: delaysMs.length,
    keepsCap: delaysMs.length <= most,
    cap: most,
  });
  return [
    reading("R1", "previous", [0, ...delays(1, most - 1)]),
    reading("R2", "first", [0, ...delays(1, most - 1)]),
    reading("R3", "previous", delays(1, most)),
    reading("R4", "event", delays(1, most)),
    reading("R5", "previous", [0, ...delays(1, most)]),
    reading("R6", "first", [0, ...delays(1, most)]),
    reading("R7", "previous", [0, ...delays(1, most).map((one) => Math.min(one, longest))]),
    reading("R8", "previous", delays(1, listed)),
  ];
};

/** When pushes come after failures that take no time, in milliseconds after the event. */
export const instantsOf = ({ from, delaysMs }: Reading): readonly number[] => {
  if (from !== "previous") return delaysMs;
  let sumMs = 0;
  return delaysMs.map((delay) => (sumMs += delay));
};

export const lastInstantMs = (limits: ScheduleLimits): number =>
  Math.max(...readingsOf(limits).flatMap(instantsOf));

/** What a delay counts from: the start of a push, or its failure. */
export const anchors = ["start", "failure"] as const;
export type Anchor = (typeof anchors)[number];

/** The part of a notification's history that a prediction needs. */
export interface History {
  readonly triggered: TimeInterval;
  readonly pushes: readonly { readonly at: TimeInterval; readonly ended: TimeInterval | undefined }[];
}

/** A push that did not come before a moment, however long before it the previous look at the receiver was. */
export const notBefore = <Push extends History["pushes"][number]>(push: Push, momentMs: number): Push => ({
  ...push,
  at: from(push.at, momentMs),
  ended: push.ended === undefined ? undefined : from(push.ended, momentMs),
});

/** Bounds on a sender's timeout, as multiples of its first delay. */
const SHORTEST_TIMEOUT = 1 / 30;
const LONGEST_TIMEOUT = 10;

/**
 * When the push with this index (from 0) is due, given the pushes before it; undefined if the reading has no
 * such push. Even if delays count from a push's start, the next push may wait until the previous one is over.
 */
export const dueOf = (
  reading: Reading,
  anchor: Anchor,
  index: number,
  { triggered, pushes }: History,
): TimeInterval | undefined => {
  const delay = reading.delaysMs[index];
  if (delay === undefined) return undefined;
  if (index === 0) return shift(triggered, delay);
  if (reading.from === "event") {
    // A sender that was late within tolerance may count on from its late push.
    const due = shift(triggered, delay);
    const previous = pushes[index - 1];
    const counted = (previous?.ended ?? previous?.at)?.latestMs ?? due.latestMs;
    return { ...due, latestMs: Math.max(due.latestMs, counted + delay - (reading.delaysMs[index - 1] ?? 0)) };
  }
  const base = pushes[reading.from === "first" ? 0 : index - 1];
  const before = pushes[index - 1];
  if (base === undefined || before === undefined) return undefined;
  const { earliestMs, latestMs } = anchor === "start" ? base.at : endOf(base, reading);
  return {
    earliestMs: earliestMs + delay,
    latestMs: Math.max(latestMs + delay, endOf(before, reading).latestMs),
  };
};

/** When a push ended or, if it is not over, when it may end by the sender's timeout. */
const endOf = ({ at, ended }: History["pushes"][number], { delaysMs }: Reading): TimeInterval => {
  if (ended !== undefined) return ended;
  const firstDelayMs = delaysMs.find((one) => one > 0) ?? 0;
  return {
    earliestMs: at.earliestMs + firstDelayMs * SHORTEST_TIMEOUT,
    latestMs: at.latestMs + firstDelayMs * LONGEST_TIMEOUT,
  };
};
