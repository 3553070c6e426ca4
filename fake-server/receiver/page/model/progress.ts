import type { TimeInterval } from "../../../../conformance/judging/interval.ts";
import { timingOf, type Timing as PushTiming } from "../../../../conformance/judging/pushes/fits.ts";
import { expectedWindows, moment, type Schedule, type Span } from "./schedule.ts";
import { isAcknowledged, isOpen, type Notification } from "./store.ts";

type Timing = PushTiming | "beyond" | "after-acknowledgement";

export interface Progress {
  readonly kind: "acknowledged" | "waiting" | "overdue" | "exhausted" | "other";
  readonly words: string;
  /** Deviations from the chosen reading, each kind once. */
  readonly alarms: readonly string[];
  readonly windows: readonly TimeInterval[];
  readonly timings: readonly Timing[];
  /** Start and end of each push, relative to the first. */
  readonly spans: readonly Span[];
}

const timingIn = (startMs: number, window: TimeInterval | undefined): Timing =>
  window === undefined ? "beyond" : timingOf(moment(startMs), window);

const alarmsOf = (timings: readonly Timing[], expected: number): string[] => {
  const words: Record<Timing, string> = {
    "on-time": "",
    early: "early",
    late: "late",
    beyond: `more than ${expected} pushes`,
    "after-acknowledgement": "after acknowledgement",
  };
  return [...new Set(timings)].map((timing) => words[timing]).filter((word) => word !== "");
};

const outlook = (
  pushes: number,
  windows: readonly TimeInterval[],
  ageMs: number,
): { kind: "waiting" | "overdue" | "exhausted"; words: string } => {
  const next = windows[pushes];
  if (next === undefined) return { kind: "exhausted", words: "never acknowledged" };
  if (ageMs > next.latestMs) return { kind: "overdue", words: `push ${pushes + 1} is overdue` };
  if (ageMs >= next.earliestMs) return { kind: "waiting", words: `push ${pushes + 1} is due` };
  return {
    kind: "waiting",
    words: `push ${pushes + 1} in ${Math.ceil((next.earliestMs - ageMs) / 1_000)} s`,
  };
};

/**
 * Judges one row by the chosen reading. `nowMs` is the receiver's wall clock. Pure, and fast enough for every frame.
 */
export const progressOf = (notification: Notification, schedule: Schedule, nowMs: number): Progress => {
  const { attempts } = notification;
  const zero = attempts[0]?.startMs ?? nowMs;
  const spans = attempts.map((attempt) => ({
    startMs: attempt.startMs - zero,
    endMs: (isOpen(attempt) ? Math.max(nowMs, attempt.endMs) : attempt.endMs) - zero,
  }));
  if (notification.id === undefined) {
    return { kind: "other", words: "not a push", alarms: [], windows: [], timings: [], spans };
  }
  const windows = expectedWindows(schedule, spans);
  const first = attempts.findIndex(isAcknowledged);
  const timings = spans.map(({ startMs }, index) =>
    index > first && startMs > (spans[first]?.endMs ?? Infinity)
      ? "after-acknowledgement"
      : timingIn(startMs, windows[index]),
  );
  const alarms = alarmsOf(timings, windows.length);
  if (first !== -1) {
    const words = first === 0 ? "acknowledged" : `acknowledged at push ${first + 1}`;
    return { kind: "acknowledged", words, alarms, windows: windows.slice(0, first + 1), timings, spans };
  }
  if (attempts.some(isOpen)) {
    return { kind: "waiting", words: `push ${attempts.length} is open`, alarms, windows, timings, spans };
  }
  return { ...outlook(attempts.length, windows, nowMs - zero), alarms, windows, timings, spans };
};
