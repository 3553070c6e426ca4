import { duration, SECOND_MS } from "../../contract/duration.ts";
import { documentLimits } from "../../contract/limits.ts";
import { greatest } from "../greatest.ts";
import type { TimeInterval } from "../interval.ts";
import { tolerances } from "../tolerances.ts";
import { latenessOf, windowOf, type Explanation, type Hypothesis, type Surroundings } from "./explain.ts";
import type { Explained, Sender } from "./sender.ts";
import type { PushTrace } from "./trace.ts";

/** Why pushes outside their windows are no breach, and the setting with which they can be judged. */
export interface Coarse {
  readonly why: string;
  readonly settle: string;
  /** What it explains, and how late pushes were at most, in milliseconds. */
  readonly of: Explained;
  readonly lateMs: number;
}

/**
 * How a sender that keeps time coarsely can have made pushes outside their windows: it cuts moments to whole seconds, or
 * looks for due pushes from time to time. Undefined if it has made none, or this does not explain them all.
 */
export const coarseSender = (sender: Sender): Coarse | undefined => {
  if (sender.allowed.length > 0) return undefined;
  for (const of of sender.all.filter(({ hypothesis: { reading } }) => reading.keepsCap)) {
    const found = coarselyBy(of.hypothesis, sender);
    if (found !== undefined) return { ...found, of };
  }
  return undefined;
};

const coarselyBy = (hypothesis: Hypothesis, sender: Sender): Omit<Coarse, "of"> | undefined => {
  const { around } = sender;
  const { unrestMs = 0, latenessMs } = around.trace;
  const by = (lateMs: number) =>
    sender.explainedBy({ ...hypothesis, coarse: { lateMs, earlyMs: cutOf(hypothesis, sender) } });
  const widely = by(longestMs(around.trace));
  if (widely.flawed.length > 0) return undefined;
  const sent = widely.timed.flatMap((one) => sentIn(one, hypothesis, around));
  const [early, late] = [sent.filter(({ offMs }) => offMs < 0), sent.filter(({ offMs }) => offMs > 0)];
  const [earlyMs, lateMs] = [early, late].map((some) =>
    greatest(
      0,
      some.map(({ offMs }) => Math.abs(offMs)),
    ),
  );
  if (earlyMs === undefined || lateMs === undefined || !areCut(early)) return undefined;
  const follow = `pushes follow ${hypothesis.reading.name}, but up to`;
  const more = { lateMs, settle: settlesBy(earlyMs, lateMs, around.trace) };
  if (lateMs === 0)
    return {
      why: `${follow} ${duration(earlyMs)} early, as if the sender cuts moments to whole seconds`,
      ...more,
    };
  // A single late push may be late by a period at most; of several, some may have waited on their tick.
  const leastMs = late.length === 1 ? lateMs : lateMs / (1 + MOST_SHARE);
  const guardMs = (early.length > 0 ? SECOND_MS : 0) + unrestMs;
  const retries = sent.filter(({ index, isHeld }) => index > 0 && !isHeld);
  const lengthMs = greatest(
    0,
    retries.map(({ at }) => at.latestMs - (retries[0]?.at.latestMs ?? 0)),
  );
  const periodMs = periodsFrom(leastMs, lengthMs, around.trace).find(
    (one) =>
      one + idleOf(one, around.trace) >= lateMs &&
      areOnTicks(retries, one, idleOf(one, around.trace), guardMs),
  );
  const isTooBusy = unrestMs >= latenessMs - unrestMs;
  if (periodMs === undefined && !isTooBusy) return undefined;
  // What is missing is overdue sooner by this than by the longest period.
  const overdueMs = periodMs === undefined ? lateMs : periodMs + idleOf(periodMs, around.trace);
  if (by(overdueMs).flawed.length > 0) return undefined;
  return periodMs === undefined
    ? {
        lateMs,
        why: `${follow} ${duration(lateMs)} late, on a machine that was busy for ${duration(unrestMs)}`,
        settle: "a less busy machine",
      }
    : {
        ...more,
        why: `${follow} ${duration(lateMs)} late, as if the sender looks for due pushes every ${duration(Number(periodMs.toPrecision(3)))} or more; the document does not say how late a push may be`,
      };
};

/** Delays can be cut to whole seconds only if they are of whole seconds; by short ones, this makes one reading look like another. */
const cutOf = ({ reading }: Hypothesis, { best, around: { trace } }: Sender): number =>
  trace.clock === "real" &&
  trace.limits.pushDelaysMs.every((ms) => ms % SECOND_MS === 0) &&
  reading.name === best.hypothesis.reading.name
    ? SECOND_MS
    : 0;

const [DOCUMENT_FIRST_MS = 0] = documentLimits.pushDelaysMs;

/** No period is longer than the first delay of this run, or of the document: it does not shrink with the limits. */
const longestMs = ({ limits: { pushDelaysMs } }: PushTrace): number =>
  Math.max(pushDelaysMs[0] ?? 0, DOCUMENT_FIRST_MS);

/** Delays that are well above the period settle it, unless those of the document are not. */
const settlesBy = (earlyMs: number, lateMs: number, { limits }: PushTrace): string => {
  const [firstMs = 0] = limits.pushDelaysMs;
  const toleratedMs = tolerances.pushLateness.default({ limits: documentLimits });
  const wantedMs = SECOND_MS * Math.ceil((lateMs * 5) / 4 / SECOND_MS);
  const neededMs = earlyMs > 0 ? DOCUMENT_FIRST_MS : (wantedMs * DOCUMENT_FIRST_MS) / toleratedMs;
  return firstMs < neededMs && neededMs <= DOCUMENT_FIRST_MS
    ? `limits.pushDelaysMs with a first delay of at least ${duration(neededMs)}, well above what the sender is exact to`
    : `tolerances.latenessMs of at least ${wantedMs} in the profile, if pushes may be that late`;
};

/** A push that came: between which moments, and between which it was due. */
interface Sent {
  readonly index: number;
  readonly due: TimeInterval;
  readonly at: TimeInterval;
  /** By how much it is late, or early if negative; 0 within its window. */
  readonly offMs: number;
  /** Whether there may have been no free worker. */
  readonly isHeld: boolean;
}

const sentIn = ({ sends }: Explanation, hypothesis: Hypothesis, around: Surroundings): readonly Sent[] =>
  sends.flatMap(({ due, at, arrival }, index) => {
    if (due === undefined || arrival === undefined) return [];
    const window = windowOf(due, index, hypothesis, around);
    const lateMs = at.earliestMs > window.latestMs ? at.earliestMs - due.latestMs : 0;
    const offMs = at.latestMs < window.earliestMs ? at.latestMs - due.earliestMs : lateMs;
    const isHeld = window.latestMs - due.latestMs > latenessOf(hypothesis, index, around);
    return [{ index, due, at, offMs, isHeld }];
  });

/** Whether early pushes came after the last whole second before they were due, by some clock. */
const areCut = (early: readonly Sent[]): boolean =>
  haveTick(
    early.map(({ due, at }) => ({ earliestMs: due.earliestMs - SECOND_MS, latestMs: at.latestMs })),
    SECOND_MS,
  );

/** The longest that a worker sleeps before it takes what a look found, in milliseconds, and as a share of the period. */
const [IDLE_MS, IDLE_SHARE] = [1_500, 1 / 2];
/** If pushes can be as far from a tick as that share of the period, no time of it is left at which nothing comes. */
const MOST_SHARE = 4 / 5;

const idleOf = (periodMs: number, { isMovedOnly = false, unrestMs = 0 }: PushTrace): number =>
  isMovedOnly ? 0 : Math.min(Math.min(IDLE_MS, IDLE_SHARE * periodMs) + unrestMs, MOST_SHARE * periodMs);

/** Round periods and, unless the sender's clock stands still, others: errors of a quarter of its idle time may add up over the run. */
const periodsFrom = (leastMs: number, lengthMs: number, trace: PushTrace): readonly number[] => {
  const { limits, isMovedOnly = false } = trace;
  const [mostMs, roundMs] = [longestMs(trace), (limits.pushDelaysMs[0] ?? 0) / 60];
  const all: number[] = [];
  for (let ms = Math.ceil(leastMs / roundMs) * roundMs; ms <= mostMs; ms += roundMs) all.push(ms);
  const stepMs = (ms: number): number => (ms * Math.min(IDLE_MS, IDLE_SHARE * ms)) / (4 * lengthMs);
  if (!isMovedOnly) for (let ms = leastMs; ms <= mostMs; ms += stepMs(ms)) all.push(ms);
  return all.toSorted((a, b) => a - b);
};

/** Whether all retries can come on a tick of one clock, the first one at which they are due, or up to an idle time later. */
const areOnTicks = (retries: readonly Sent[], periodMs: number, idleMs: number, guardMs: number): boolean =>
  haveTick(
    retries.map(({ due, at }) => ({
      earliestMs: Math.max(at.earliestMs - idleMs, due.earliestMs - guardMs),
      latestMs: Math.min(at.latestMs, due.latestMs + periodMs),
    })),
    periodMs,
  ) && !isAllOrNothing(retries, periodMs);

/** Whether a clock with this period can have a tick in each of these intervals. */
const haveTick = (intervals: readonly TimeInterval[], periodMs: number): boolean => {
  let phases: readonly TimeInterval[] = [{ earliestMs: 0, latestMs: periodMs }];
  return intervals.every(({ earliestMs, latestMs }) => {
    if (latestMs - earliestMs >= periodMs) return true;
    const fromMs = earliestMs - Math.floor(earliestMs / periodMs) * periodMs;
    const untilMs = fromMs + latestMs - earliestMs;
    phases = [0, periodMs].flatMap((byMs) =>
      phases.flatMap((phase) => {
        const both = {
          earliestMs: Math.max(phase.earliestMs, fromMs - byMs),
          latestMs: Math.min(phase.latestMs, untilMs - byMs),
        };
        return both.earliestMs > both.latestMs ? [] : [both];
      }),
    );
    return phases.length > 0;
  });
};

/**
 * A clock makes what counts from its own ticks late by anything, or always by as much: not now by nothing, and now by a
 * period.
 */
const isAllOrNothing = (retries: readonly Sent[], periodMs: number): boolean => {
  const shares = retries
    .filter(({ index }) => index > 1)
    .map(({ due, at }) => (at.earliestMs - due.latestMs) / periodMs);
  const [few, most] = [shares.filter((share) => share < 1 / 4), shares.filter((share) => share > 3 / 4)];
  return few.length > 0 && most.length > 0 && few.length + most.length === shares.length;
};
