import { overlap, type TimeInterval } from "../interval.ts";
import type { Blind } from "./blind.ts";
import type { PushTrace } from "./trace.ts";
import { allowedLatenessMs } from "./fits.ts";
import { dueOf, type Anchor, type Reading } from "./readings.ts";
import type { Arrival, Journal } from "./arrivals.ts";

/** What a sender may do: a reading of the schedule, and what its delays count from. */
export interface Hypothesis {
  readonly reading: Reading;
  readonly anchor: Anchor;
  /** How much earlier or later than its windows a sender that keeps time coarsely may push, in milliseconds; else none. */
  readonly coarse?: { readonly earlyMs: number; readonly lateMs: number };
}

/** A push that the sender made by a hypothesis, seen by the receiver or not. */
export interface Send {
  readonly at: TimeInterval;
  readonly ended: TimeInterval | undefined;
  /** When it was due; undefined if the hypothesis has no such push. */
  readonly due: TimeInterval | undefined;
  readonly arrival?: Arrival;
  readonly blind?: Blind;
}

/** How a notification deviates from a hypothesis. */
export interface Flaw {
  readonly kind: "early" | "late" | "surplus" | "missing";
  /** Number of the push, from 1. */
  readonly push: number;
  /** By how much it came early or late; the price of the others, in milliseconds. */
  readonly byMs: number;
}

/** When a push is due, and when it may be sent. */
export interface Next {
  readonly due: TimeInterval;
  readonly window: TimeInterval;
}

/** The cheapest way in which a sender that follows a hypothesis can have made what was seen of one notification. */
export interface Explanation {
  readonly by: Hypothesis;
  readonly journal: Journal;
  readonly sends: readonly Send[];
  readonly flaws: readonly Flaw[];
  readonly costMs: number;
  /** How many pushes it takes to be lost with a connection that broke. */
  readonly lost: number;
  /** The push that may come after the watch, if one may. */
  readonly next?: Next;
}

/** What is the same for all notifications of a trace. */
export interface Surroundings {
  readonly blind: readonly Blind[];
  /** When a sender with few workers may have had none free. */
  readonly busy: readonly TimeInterval[];
  /** The same, and when first pushes came: those of events that were triggered together wait for one another. */
  readonly queue: readonly TimeInterval[];
  readonly trace: PushTrace;
  readonly firstLatenessMs: number;
}

interface State {
  readonly sends: readonly Send[];
  readonly flaws: readonly Flaw[];
  readonly costMs: number;
  readonly lost: number;
  readonly next?: Next;
}

/** Enough for the explanations that can still become the cheapest one. */
const STATES = 12;

/** Explains a notification's journal by a hypothesis. */
export const explain = (journal: Journal, by: Hypothesis, around: Surroundings): Explanation => {
  let states: readonly State[] = [{ sends: [], flaws: [], costMs: 0, lost: 0 }];
  for (const arrival of journal.arrivals)
    states = cheapest(states.flatMap((state) => placed(state, arrival, journal, by, around)));
  const ended = cheapest(states.flatMap((state) => endings(state, journal, by, around)));
  const [best] = ended;
  if (best === undefined) throw new Error("a fold ends in at least one state");
  return { by, journal, ...best };
};

/** A lost connection is taken for a push only where something is missing without it; an outage hides what is due. */
const cheapest = (states: readonly State[]): readonly State[] =>
  states
    .toSorted(
      (a, b) =>
        a.costMs - b.costMs ||
        (a.costMs === 0 ? a.lost - b.lost : b.lost - a.lost) ||
        b.sends.length - a.sends.length,
    )
    .slice(0, STATES);

/** When the next push is due after these. */
const dueAfter = ({ reading, anchor }: Hypothesis, { event }: Journal, sends: readonly Send[]) =>
  dueOf(reading, anchor, sends.length, { triggered: event, pushes: sends });

/** Up to when a push may be late, in milliseconds after it is due. */
export const latenessOf = (
  { reading, coarse }: Hypothesis,
  index: number,
  { trace, firstLatenessMs }: Surroundings,
): number =>
  Math.max(
    allowedLatenessMs(reading.delaysMs[index] ?? 0, trace),
    index === 0 ? firstLatenessMs : 0,
    coarse?.lateMs ?? 0,
  );

/** When a push that is due then may be sent. */
export const windowOf = (
  due: TimeInterval,
  index: number,
  by: Hypothesis,
  around: Surroundings,
): TimeInterval => {
  const lateMs = latenessOf(by, index, around);
  let { latestMs } = due;
  for (const one of around.busy) if (one.earliestMs <= latestMs) latestMs = Math.max(latestMs, one.latestMs);
  if (index === 0)
    for (const one of around.queue)
      if (one.earliestMs <= latestMs + lateMs) latestMs = Math.max(latestMs, one.latestMs);
  const earlyMs = Math.max(around.trace.earlyGuardMs, by.coarse?.earlyMs ?? 0);
  return { earliestMs: due.earliestMs - earlyMs, latestMs: latestMs + lateMs };
};

const priceMs = ({ trace }: Surroundings): number => trace.limits.pushDelaysMs[0] ?? 0;

/** All ways in which an arrival can follow: as the next push, after pushes that nobody saw, or after one that was left out. */
const placed = (
  state: State,
  arrival: Arrival,
  journal: Journal,
  by: Hypothesis,
  around: Surroundings,
): readonly State[] => {
  if (arrival.isExtra)
    return arrival.isBeside ? [state, ...besides(state, arrival, journal, by, around)] : [state];
  const due = dueAfter(by, journal, state.sends);
  const seen = withArrival(state, arrival, due, by, around);
  if (due === undefined) return [seen];
  const repeated = mayRepeat(state, journal, by)
    ? [flawed(state, "surplus", state.sends.length, around)]
    : [];
  const index = state.sends.length;
  const window = windowOf(due, index, by, around);
  const unseen = unseenIn(window, around, state, arrival.push.line.n).map((send) =>
    withUnseen(state, send, due),
  );
  const isLeftOut = window.latestMs < arrival.at.earliestMs && by.reading.delaysMs.length > index + 1;
  const leftOut: readonly State[] = isLeftOut ? [withoutPush(state, due, around)] : [];
  const later = [...unseen, ...leftOut].flatMap((one) => placed(one, arrival, journal, by, around));
  return [seen, ...repeated, ...later];
};

/** Of pushes that are too many, any may be the one that its sender sent twice, not only the last. */
const mayRepeat = ({ sends, flaws }: State, { arrivals }: Journal, { reading }: Hypothesis): boolean =>
  sends.at(-1)?.arrival !== undefined &&
  arrivals.filter(({ isExtra }) => !isExtra).length - reading.pushes >
    flaws.filter(({ kind }) => kind === "surplus").length;

/** What came while an earlier push was open is the next one if it is in time: both ends of a connection learn of its end apart. */
const besides = (
  state: State,
  arrival: Arrival,
  journal: Journal,
  by: Hypothesis,
  around: Surroundings,
): readonly State[] => {
  const due = dueAfter(by, journal, state.sends);
  const isInTime = flawOf(arrival, due, state.sends.length, by, around) === undefined;
  return isInTime ? [withArrival(state, arrival, due, by, around)] : [];
};

const withArrival = (
  state: State,
  arrival: Arrival,
  due: TimeInterval | undefined,
  by: Hypothesis,
  around: Surroundings,
): State => {
  const index = state.sends.length;
  const sends = [...state.sends, { at: arrival.at, ended: arrival.ended, due, arrival }];
  const flaw = flawOf(arrival, due, index, by, around);
  return flaw === undefined
    ? { ...state, sends }
    : { ...state, sends, flaws: [...state.flaws, flaw], costMs: state.costMs + flaw.byMs };
};

const flawOf = (
  { at }: Arrival,
  due: TimeInterval | undefined,
  index: number,
  by: Hypothesis,
  around: Surroundings,
): Flaw | undefined => {
  const push = index + 1;
  if (due === undefined) return { kind: "surplus", push, byMs: priceMs(around) };
  const window = windowOf(due, index, by, around);
  if (at.latestMs < window.earliestMs) return { kind: "early", push, byMs: due.earliestMs - at.latestMs };
  if (at.earliestMs > window.latestMs) return { kind: "late", push, byMs: at.earliestMs - due.latestMs };
  return undefined;
};

const withUnseen = (state: State, send: Omit<Send, "due">, due: TimeInterval): State => ({
  ...state,
  sends: [...state.sends, { ...send, due }],
  lost: state.lost + Number(send.blind?.kind === "lost"),
});

const flawed = (state: State, kind: Flaw["kind"], push: number, around: Surroundings): State => ({
  ...state,
  flaws: [...state.flaws, { kind, push, byMs: priceMs(around) }],
  costMs: state.costMs + priceMs(around),
});

/** The next push is missing. */
const lacking = (state: State, around: Surroundings): State =>
  flawed(state, "missing", state.sends.length + 1, around);

/** The next push is missing, and those after it count as if it had been sent when it was due. */
const withoutPush = (state: State, due: TimeInterval, around: Surroundings): State => ({
  ...lacking(state, around),
  sends: [...state.sends, { at: due, ended: due, due }],
});

/** How many moments of broken connections are tried for one push. */
const MOMENTS = 3;

/** The pushes that may have been sent in a window and met a closed door or a broken connection. */
const unseenIn = (
  window: TimeInterval,
  { blind }: Surroundings,
  { sends }: State,
  nextLine: number,
): readonly Omit<Send, "due">[] => {
  const last = sends.at(-1);
  const lastLine = sends.findLast(({ arrival }) => arrival !== undefined)?.arrival?.push.line.n ?? -Infinity;
  const lostAt = new Set<number>();
  return blind.flatMap((one) => {
    if (!overlap(one, window)) return [];
    // The journal's order tells more than times do.
    if (one.lines !== undefined && (lastLine > one.lines[1] || nextLine <= one.lines[0])) return [];
    if (sends.some((send) => send.blind === one && one.kind === "lost")) return [];
    if (last !== undefined && last.at.earliestMs > one.latestMs) return [];
    // Of connections that broke at one moment any explains as much as another, and of many moments a few do.
    if (one.kind === "lost") {
      if (lostAt.has(one.earliestMs) || lostAt.size === MOMENTS) return [];
      lostAt.add(one.earliestMs);
    }
    const at = {
      earliestMs: Math.max(one.earliestMs, Math.min(window.earliestMs, one.latestMs)),
      latestMs: Math.min(one.latestMs, Math.max(window.latestMs, one.earliestMs)),
    };
    return [{ at, ended: at, blind: one }];
  });
};

/** What follows the last arrival: nothing, pushes that nobody saw, one that is missing, or one that may come after the watch. */
const endings = (state: State, journal: Journal, by: Hypothesis, around: Surroundings): readonly State[] => {
  const last = state.sends.at(-1);
  if (last?.arrival !== undefined && last.arrival.ending !== "failed") return [state];
  const due = dueAfter(by, journal, state.sends);
  if (due === undefined) return [state];
  const window = windowOf(due, state.sends.length, by, around);
  const unseen = unseenIn(window, around, state, Infinity).map((send) => withUnseen(state, send, due));
  const isOverdue = around.trace.watchedUntil.earliestMs > window.latestMs;
  const here: State = isOverdue ? lacking(state, around) : { ...state, next: { due, window } };
  return [here, ...unseen.flatMap((one) => endings(one, journal, by, around))];
};
