import type { TimeInterval } from "../../../conformance/judging/interval.ts";
import { outcomeOf, usualAcknowledgementStatus } from "../../../conformance/judging/pushes/answer.ts";
import { pushToleranceOf, timingOf, windowsOf } from "../../../conformance/judging/pushes/fits.ts";
import { instantsOf, type ReadingName, readingsOf } from "../../../conformance/judging/pushes/readings.ts";
import type { Attempt, Notification } from "./rows.ts";

/** The schedule that pushes are held against: a reading of the document, and the delays in it. */
export interface Schedule {
  readonly reading: ReadingName;
  readonly delaysMs: readonly number[];
}

const limitsOf = ({ delaysMs }: Schedule) => ({ pushDelaysMs: delaysMs, maxPushes: delaysMs.length + 1 });

const readingIn = (schedule: Schedule) => {
  const found = readingsOf(limitsOf(schedule)).find(({ name }) => name === schedule.reading);
  if (found === undefined) throw new TypeError(`There is no reading ${schedule.reading}`);
  return found;
};

/** Milliseconds of each push after the first, if every push failed immediately. */
export const offsetsMs = (schedule: Schedule): readonly number[] => {
  const instants = instantsOf(readingIn(schedule));
  return instants.map((instant) => instant - (instants[0] ?? 0));
};

/** The page has no profile, so it expects the usual code. */
export const isAcknowledged = ({ answer }: Attempt): boolean =>
  outcomeOf(answer, usualAcknowledgementStatus) === "acknowledged";

export const isOpen = ({ answer: { action, outcome } }: Attempt): boolean =>
  outcome === undefined && (action === "answer" || action === "hang");

export interface Progress {
  readonly kind: "acknowledged" | "waiting" | "overdue" | "exhausted" | "other";
  readonly words: string;
  /** When each push is due, in milliseconds since the first. */
  readonly windows: readonly TimeInterval[];
  readonly timings: readonly ("on-time" | "early" | "late" | "one too many" | "after acknowledgement")[];
  /** When each push began and ended, in milliseconds since the first began. */
  readonly spans: readonly { readonly startMs: number; readonly endMs: number }[];
}

const moment = (atMs: number): TimeInterval => ({ earliestMs: atMs, latestMs: atMs });

/** A receiver sees no events: the first push is assumed to have been on time. */
const windowsFor = (schedule: Schedule, spans: Progress["spans"]): readonly TimeInterval[] => {
  const reading = readingIn(schedule);
  const triggered = moment((spans[0]?.startMs ?? 0) - (reading.delaysMs[0] ?? 0));
  const pushes = spans.map(({ startMs, endMs }) => ({ at: moment(startMs), ended: moment(endMs) }));
  return windowsOf(reading, { triggered, pushes }, pushToleranceOf(limitsOf(schedule), "real", undefined));
};

const outlook = (
  attempts: readonly Attempt[],
  windows: readonly TimeInterval[],
  ageMs: number,
): Pick<Progress, "kind" | "words"> => {
  const next = windows[attempts.length];
  const name = `push ${attempts.length + 1}`;
  if (attempts.some(isOpen)) return { kind: "waiting", words: `push ${attempts.length} is open` };
  if (next === undefined) return { kind: "exhausted", words: "never acknowledged" };
  if (ageMs > next.latestMs) return { kind: "overdue", words: `${name} is overdue` };
  const inS = Math.ceil((next.earliestMs - ageMs) / 1_000);
  return { kind: "waiting", words: inS <= 0 ? `${name} is due` : `${name} in ${inS} s` };
};

/** How a notification stands in a schedule. `nowMs` is the receiver's wall clock. Pure. */
export const progressOf = ({ id, attempts }: Notification, schedule: Schedule, nowMs: number): Progress => {
  const zeroMs = attempts[0]?.startMs ?? nowMs;
  const spans = attempts.map((attempt) => ({
    startMs: attempt.startMs - zeroMs,
    endMs: (isOpen(attempt) ? Math.max(nowMs, attempt.endMs) : attempt.endMs) - zeroMs,
  }));
  if (id === undefined)
    return { kind: "other", words: "not a push", windows: [], timings: spans.map(() => "on-time"), spans };
  const windows = windowsFor(schedule, spans);
  const first = attempts.findIndex(isAcknowledged);
  const timings = spans.map(({ startMs }, index) => {
    if (index > first && startMs > (spans[first]?.endMs ?? Infinity)) return "after acknowledgement";
    const window = windows[index];
    return window === undefined ? "one too many" : timingOf(moment(startMs), window);
  });
  if (first === -1) return { ...outlook(attempts, windows, nowMs - zeroMs), windows, timings, spans };
  const words = first === 0 ? "acknowledged" : `acknowledged at push ${first + 1}`;
  return { kind: "acknowledged", words, windows: windows.slice(0, first + 1), timings, spans };
};
