import { documentLimits } from "../../../../conformance/contract/limits.ts";
import type { TimeInterval } from "../../../../conformance/judging/interval.ts";
import { pushToleranceOf, windowsOf } from "../../../../conformance/judging/pushes/fits.ts";
import {
  instantsOf,
  readingsOf,
  type Reading as Interpretation,
  type ReadingName,
} from "../../../../conformance/judging/pushes/readings.ts";

/** A reading of the retry schedule (document, section 6), in the page's words. */
export interface Reading {
  readonly id: ReadingName;
  readonly words: string;
}

export const readings: readonly Reading[] = [
  { id: "R1", words: "first at once, delays between pushes, five in all" },
  { id: "R2", words: "first at once, delays from the first push, five in all" },
  { id: "R3", words: "first delayed too, delays between pushes, five in all" },
  { id: "R4", words: "first delayed too, delays from the event, five in all" },
  { id: "R5", words: "five retries after the first, delays between pushes" },
  { id: "R6", words: "five retries after the first, delays from the first push" },
  { id: "R7", words: "five retries after the first, the longest delay repeated" },
  { id: "R8", words: "first delayed, only the listed delays, four in all" },
];

/** The delays of the document, section 6. */
export const documentDelaysMs: readonly number[] = documentLimits.pushDelaysMs;

export interface Schedule {
  readonly reading: Reading;
  readonly delaysMs: readonly number[];
}

/** When a push began and when its answer was handed over or given up, relative to the notification's first push. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const limitsOf = ({ delaysMs }: Schedule) => ({ pushDelaysMs: delaysMs, maxPushes: delaysMs.length + 1 });

const interpretationOf = (schedule: Schedule): Interpretation => {
  const found = readingsOf(limitsOf(schedule)).find(({ name }) => name === schedule.reading.id);
  if (found === undefined) throw new TypeError(`There is no reading ${schedule.reading.id}`);
  return found;
};

/** Milliseconds of each push after the first, if every push failed immediately. */
export const offsetsMs = (schedule: Schedule): readonly number[] => {
  const [first = 0, ...later] = instantsOf(interpretationOf(schedule));
  return [0, ...later.map((instant) => instant - first)];
};

/** A moment without uncertainty. */
export const moment = (atMs: number): TimeInterval => ({ earliestMs: atMs, latestMs: atMs });

/**
 * The window of each push, in milliseconds since the first one, as judged by the gate. A receiver sees no events: the
 * first push is assumed to have been on time.
 */
export const expectedWindows = (schedule: Schedule, spans: readonly Span[]): readonly TimeInterval[] => {
  const reading = interpretationOf(schedule);
  const [firstDelayMs = 0] = reading.delaysMs;
  const history = {
    triggered: moment((spans[0]?.startMs ?? 0) - firstDelayMs),
    pushes: spans.map(({ startMs, endMs }) => ({ at: moment(startMs), ended: moment(endMs) })),
  };
  return windowsOf(reading, history, pushToleranceOf(limitsOf(schedule), "real", undefined));
};

/** Parses "30, 60, 120, 240" in seconds; undefined unless it has one to twelve increasing, plausible delays. */
export const parseDelays = (text: string): number[] | undefined => {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== "");
  const delays = parts.map((part) => Number(part) * 1_000);
  const sensible = delays.every((delay) => Number.isFinite(delay) && delay >= 1 && delay <= 86_400_000);
  return sensible && delays.length >= 1 && delays.length <= 12 ? delays : undefined;
};
