import type { Limits } from "../../contract/limits.ts";

export const readingNames = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"] as const;
export type ReadingName = (typeof readingNames)[number];

/** A reading of the schedule (section 6) with the limits of the run. */
export interface Reading {
  readonly name: ReadingName;
  /** How many pushes a notification gets that is never acknowledged. */
  readonly pushes: number;
  readonly keepsCap: boolean;
  /** What the delays are counted from: the push before, the first push, or the event. */
  readonly from: "previous" | "first" | "event";
  /** The delay of each push, in milliseconds; that of the first counts from the event. */
  readonly delaysMs: readonly number[];
}

type ScheduleLimits = Pick<Limits, "pushDelaysMs" | "maxPushes">;

/** The n-th delay, from 1; where the document's list is over, each is longer than the one before as those were. */
const delayMs = ({ pushDelaysMs }: ScheduleLimits, n: number): number => {
  const listed = pushDelaysMs[n - 1];
  if (listed !== undefined) return listed;
  const [last = 0, before = last / 2] = pushDelaysMs.toReversed();
  return last * Math.max(1, last / before) ** (n - pushDelaysMs.length);
};

/** All readings, by the limits of the run. Section 6: "delayed pushes at ..., each later one further delayed". */
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

/** Moments of the pushes for failures that take no time, in milliseconds from the event. */
export const instantsOf = ({ from, delaysMs }: Reading): readonly number[] => {
  if (from !== "previous") return delaysMs;
  let sumMs = 0;
  return delaysMs.map((delay) => (sumMs += delay));
};

export const lastInstantMs = (limits: ScheduleLimits): number =>
  Math.max(...readingsOf(limits).flatMap(instantsOf));
