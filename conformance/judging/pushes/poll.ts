import type { TimeInterval } from "../interval.ts";

/** The pushes of one notification that a polling sender notices. */
export interface Polled {
  /** What the first delay counts from. */
  readonly from: TimeInterval;
  /** Whether each further delay counts from the push before, rather than from `from` as well. */
  readonly isChained: boolean;
  /** When each was noticed, on a tick of the sender's clock, and the delay after which it is due. */
  readonly pushes: readonly { readonly at: TimeInterval; readonly delayMs: number }[];
}

export interface PollOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** Periods are tried in these steps. */
  readonly stepMs: number;
  /**
   * Whether ticks are exact. A push that is due on a tick may be noticed then or at the next one, but by an exact sender
   * always the same way.
   */
  readonly isExact: boolean;
}

/**
 * The shortest period between `minMs` and `maxMs`, in milliseconds, with which a worker that polls for due pushes would
 * send all of these: each on a tick of its clock, the first one that is not before the push is due. Undefined if there
 * is none. Ignores pushes whose moment is uncertain by at least a period.
 */
export const pollPeriodMs = (polled: readonly Polled[], options: PollOptions): number | undefined => {
  const { minMs, maxMs, stepMs, isExact } = options;
  const moments = polled.flatMap(({ pushes }) => pushes.map(({ at }) => at));
  const ties: readonly Tie[] = isExact ? ["now", "next"] : ["either"];
  for (let periodMs = Math.ceil(minMs / stepMs) * stepMs; periodMs <= maxMs; periodMs += stepMs)
    for (const clock of clocksFor(moments, periodMs))
      if (ties.some((tie) => polled.every((one) => isNoticedInTime(one, clock, tie)))) return periodMs;
  return undefined;
};

/** When a push is noticed that is due on a tick: at once, at the next tick, or sometimes so and sometimes so. */
type Tie = "now" | "next" | "either";

/** A clock with a tick at `tickMs`, or up to `earlierMs` before; then all its ticks are earlier by as much. */
interface TickingClock {
  readonly periodMs: number;
  readonly tickMs: number;
  readonly earlierMs: number;
}

/** The clocks on whose ticks all moments can fall, each with its tick as late as that allows. */
const clocksFor = (moments: readonly TimeInterval[], periodMs: number): readonly TickingClock[] => {
  let clocks: readonly TickingClock[] | undefined;
  for (const moment of moments) {
    if (!isNarrow(moment, periodMs)) continue;
    const { earliestMs, latestMs } = moment;
    clocks =
      clocks === undefined
        ? [{ periodMs, tickMs: latestMs, earlierMs: latestMs - earliestMs }]
        : clocks.flatMap((clock) => clocksAlso(moment, clock));
    if (clocks.length === 0) break;
  }
  return clocks ?? [];
};

/** What is left of a clock if one of its ticks must fall in this moment; two clocks if the first or last of them may. */
const clocksAlso = (
  { earliestMs, latestMs }: TimeInterval,
  { periodMs, tickMs, earlierMs }: TickingClock,
): readonly TickingClock[] => {
  const widthMs = latestMs - earliestMs;
  const laterMs = remainder(latestMs - tickMs, periodMs);
  const ends = [laterMs, laterMs - periodMs];
  return ends.flatMap((endMs) => {
    // Counted from the latest tick of the clock, the moment lasts from endMs - widthMs to endMs.
    const lastMs = Math.min(endMs, 0);
    const firstMs = Math.max(endMs - widthMs, -earlierMs);
    return firstMs > lastMs ? [] : [{ periodMs, tickMs: tickMs + lastMs, earlierMs: lastMs - firstMs }];
  });
};

const isNarrow = ({ earliestMs, latestMs }: TimeInterval, periodMs: number): boolean =>
  latestMs - earliestMs < periodMs;

const remainder = (ms: number, periodMs: number): number => ((ms % periodMs) + periodMs) % periodMs;

const isNoticedInTime = (polled: Polled, clock: TickingClock, tie: Tie): boolean =>
  polled.isChained ? isChainInTime(polled, clock, tie) : isSeriesInTime(polled, clock, tie);

/** The latest tick that the moment may be; undefined if it may be several. */
const tickIn = (at: TimeInterval, { periodMs, tickMs }: TickingClock): number | undefined =>
  isNarrow(at, periodMs) ? at.latestMs - remainder(at.latestMs - tickMs, periodMs) : undefined;

/** Each delay counts from the push before, and so from a tick; only the first may count from any moment. */
const isChainInTime = ({ from, pushes }: Polled, clock: TickingClock, tie: Tie): boolean => {
  let base: TimeInterval = from;
  let baseTickMs: number | undefined;
  for (const { at, delayMs } of pushes) {
    const tickMs = tickIn(at, clock);
    if (tickMs !== undefined) {
      const isInTime =
        baseTickMs === undefined
          ? canBeLateBy(tickMs, base, delayMs, clock)
          : isLateBy(tickMs - baseTickMs - delayMs, clock, tie);
      if (!isInTime) return false;
    }
    [base, baseTickMs] = [at, tickMs];
  }
  return true;
};

/** All delays count from the same moment, which the ticks on which pushes were noticed bound from both sides. */
const isSeriesInTime = ({ from, pushes }: Polled, clock: TickingClock, tie: Tie): boolean => {
  const latest: number[] = [];
  for (const { at, delayMs } of pushes) {
    const tickMs = tickIn(at, clock);
    if (tickMs === undefined) continue;
    if (!canBeLateBy(tickMs, from, delayMs, clock)) return false;
    latest.push(tickMs - delayMs);
  }
  const spreadMs = Math.max(...latest) - Math.min(...latest);
  return tie === "either"
    ? spreadMs <= clock.periodMs + ROUNDING_MS
    : spreadMs < clock.periodMs - ROUNDING_MS;
};

/** Whether a push noticed on this tick can have been due at most a period before. */
const canBeLateBy = (tickMs: number, base: TimeInterval, delayMs: number, clock: TickingClock): boolean =>
  tickMs >= base.earliestMs + delayMs && tickMs - clock.earlierMs <= base.latestMs + delayMs + clock.periodMs;

/** Whether a push noticed on a tick can have been due exactly this long before. */
const isLateBy = (lateMs: number, { periodMs }: TickingClock, tie: Tie): boolean =>
  lateMs >= (tie === "next" ? ROUNDING_MS : -ROUNDING_MS) &&
  lateMs <= periodMs + (tie === "now" ? -ROUNDING_MS : ROUNDING_MS);

/** Sums of periods and delays are this exact. */
const ROUNDING_MS = 1e-3;
