import type { Limits } from "../../contract/limits.ts";
import { from, shift, type TimeInterval } from "../interval.ts";

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
