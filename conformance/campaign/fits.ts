import { duration } from "../contract/duration.ts";
import type { Bracket } from "../world/exchange.ts";
import type { Reading } from "../contract/readings.ts";
import { dueOf, type Anchor, type History } from "./readings.ts";

/** How exactly a push is expected. */
export interface Tolerance {
  readonly latenessMs: number;
  readonly earlyGuardMs: number;
}

/** So much of a long delay may pass before its push is late. */
const LATE_SHARE = 0.15;
/** A moment that is known no better than to a third of its delay decides nothing. */
const VAGUE_SHARE = 1 / 3;

/** How late a push may be whose delay is this long, in milliseconds. */
export const allowedLatenessMs = (delayMs: number, { latenessMs }: Pick<Tolerance, "latenessMs">): number =>
  Math.max(latenessMs, delayMs * LATE_SHARE);

/** Whether a notification's pushes can be what a reading predicts; if not, the first thing that speaks against it. */
export type Fit =
  | { readonly kind: "fits" }
  | { readonly kind: "vague"; readonly why: string }
  /** Later than is allowed, but no later than one who looks for what is due from time to time may be. */
  | { readonly kind: "tardy"; readonly why: string; readonly byMs: number }
  /**
   * `offBy` is how far a push is off its moment, as a share of its delay; one too many or too few counts as 1. `isLack` says that
   * it is late or missing, as it also seems where a push before it was not seen.
   */
  | {
      readonly kind: "against";
      readonly why: string;
      readonly offBy: number;
      readonly isLack: boolean;
    };

export const fits: Fit = { kind: "fits" };

export interface FitOptions extends Tolerance {
  /** Whether the notification stayed unacknowledged, so that all pushes of the reading must be there. */
  readonly isComplete: boolean;
  /** How late a first push may be, of which the document says nothing; as late as any other where left out. */
  readonly firstLatenessMs?: number;
  readonly watchedUntil: Bracket;
  /** By how much a push may be late to count as tardy instead of against the reading; 0 where left out. */
  readonly tardyMs?: number;
  /** The first push that is judged; 0 where left out. */
  readonly fromIndex?: number;
  /** Stretches, in order and apart, in which a sender may have had no worker free: what is due in one may come after it. */
  readonly busy?: readonly Bracket[];
}

/** Compares a history with a reading, push by push. */
export const fitOf = (reading: Reading, anchor: Anchor, history: History, options: FitOptions): Fit => {
  let vague: Fit | undefined;
  let tardy: Extract<Fit, { kind: "tardy" }> | undefined;
  for (const [index, push] of history.pushes.entries()) {
    const due = dueOf(reading, anchor, index, history);
    if (due === undefined)
      return against(`there is a push ${index + 1}, and ${reading.name} has ${reading.pushes}`, 1);
    if (index < (options.fromIndex ?? 0)) continue;
    const delayMs = reading.delaysMs[index] ?? 0;
    const late = outlasting(due, allowedLatenessMs(delayMs, options), options.busy);
    const fit = fitOfOne(index, push.at, late, delayMs, history, options);
    if (fit.kind === "against") return fit;
    if (fit.kind === "vague") vague ??= fit;
    if (fit.kind === "tardy" && fit.byMs > (tardy?.byMs ?? 0)) tardy = fit;
  }
  if (options.isComplete && history.pushes.length < reading.pushes) {
    const missing = missingFit(reading, anchor, history, options);
    if (missing.kind === "against") return missing;
    vague ??= missing.kind === "vague" ? missing : undefined;
  }
  return tardy ?? vague ?? fits;
};

const against = (why: string, offBy: number): Fit => ({ kind: "against", why, offBy, isLack: false });
const lacking = (why: string, offBy: number): Fit => ({ kind: "against", why, offBy, isLack: true });

/** What is due before a busy stretch is over may come as late as that. */
const outlasting = (due: Bracket, lateMs: number, busy: readonly Bracket[] = []): Bracket => {
  let { latestMs } = due;
  for (const stretch of busy)
    if (stretch.earliestMs <= latestMs + lateMs) latestMs = Math.max(latestMs, stretch.latestMs);
  return { ...due, latestMs };
};

const fitOfOne = (
  index: number,
  at: Bracket,
  due: Bracket,
  delayMs: number,
  { triggered }: History,
  options: FitOptions,
): Fit => {
  const lateMs = Math.max(
    allowedLatenessMs(delayMs, options),
    index === 0 ? (options.firstLatenessMs ?? 0) : 0,
  );
  const wholeMs = Math.max(delayMs, 3 * options.latenessMs);
  const since = (moment: number): string => duration(Math.max(0, moment - triggered.earliestMs));
  if (at.latestMs < due.earliestMs - options.earlyGuardMs)
    return against(
      `push ${index + 1} came at most ${since(at.latestMs)} after the event, ${duration(due.earliestMs - at.latestMs)} early`,
      (due.earliestMs - at.latestMs) / wholeMs,
    );
  const byMs = at.earliestMs - due.latestMs;
  if (byMs > lateMs) {
    const why = `push ${index + 1} came at least ${since(at.earliestMs)} after the event, ${duration(byMs)} late`;
    return byMs <= (options.tardyMs ?? 0) ? { kind: "tardy", why, byMs } : lacking(why, byMs / wholeMs);
  }
  const widthMs = at.latestMs - at.earliestMs + (due.latestMs - due.earliestMs);
  const atLeastMs = index === 0 ? (options.firstLatenessMs ?? 0) : delayMs * VAGUE_SHARE;
  const decidesMs = Math.max(options.latenessMs, atLeastMs);
  if (widthMs > decidesMs)
    return {
      kind: "vague",
      why: `the moment of push ${index + 1} is known to ${duration(widthMs)} only, which is more than the ${duration(decidesMs)} that it has to be told from others by`,
    };
  return fits;
};

const missingFit = (reading: Reading, anchor: Anchor, history: History, options: FitOptions): Fit => {
  const index = history.pushes.length;
  const told = dueOf(reading, anchor, index, history);
  if (told === undefined) return lacking(`push ${index + 1} did not come`, 1);
  const lateMs = Math.max(options.tardyMs ?? 0, allowedLatenessMs(reading.delaysMs[index] ?? 0, options));
  const due = outlasting(told, lateMs, options.busy);
  return options.watchedUntil.earliestMs > due.latestMs + lateMs
    ? lacking(`push ${index + 1} did not come within ${duration(lateMs)} of its time`, 1)
    : { kind: "vague", why: `push ${index + 1} was not waited for long enough` };
};
