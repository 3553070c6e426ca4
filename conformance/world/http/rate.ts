import { SECOND_MS } from "../../contract/duration.ts";
import type { RealTime } from "../clock.ts";
import { TransportError } from "../exchange.ts";
import { retryPolicy } from "./retry.ts";

/** The last answers show how many of them were turned away, and how fast the others got through. */
const LAST = 64;
const SHORTEST_SPAN_MS = 100;
/** From this share on, and with so many of them, it is the rate that is too high; fewer are turned away as a limit is touched. */
const OVERLOAD = { share: 0.1, least: 3 } as const;
/**
 * The rate after an overload, relative to that of what got through, and after a single request was turned away. It falls
 * below a quarter of what first got through only while most are turned away: what is turned away by chance is not worth it.
 */
const LOWERED = { overload: 0.7, touched: 0.9, least: 0.25, mostShare: 0.5 } as const;
/** What was under way when the rate was lowered may still be turned away. */
const LOWERED_AT_MOST_EVERY_MS = 200;
/**
 * By what the rate rises with as many answers as it allows in a second, until it touches the limit, and afterwards. While
 * little is asked it does not rise, because nothing shows that the limiter would let more through.
 */
const RAISED = { before: 1.2, after: 1.01 } as const;

/** What a limiter lets through, as far as it is known. */
interface Limit {
  readonly perSecond: number;
  readonly sinceMs: number;
  readonly isTouched: boolean;
  /** What got through per second when it was first found. */
  readonly first: number;
}

const lowered = (limit: Limit): Limit => {
  const perSecond = Math.max(1, LOWERED.overload * limit.perSecond);
  return { ...limit, perSecond, first: perSecond };
};

/** The limit that the last answers show, the last of which was turned away. */
const limitOf = (
  last: readonly { readonly atMs: number; readonly isAccepted: boolean }[],
  before: Limit | undefined,
  nowPerSecond: number,
  sinceMs: number,
): Limit | undefined => {
  const accepted = last.filter(({ isAccepted }) => isAccepted).length;
  const share = 1 - accepted / last.length;
  const isOverload = share >= OVERLOAD.share && last.length - accepted >= OVERLOAD.least;
  if (!isOverload && before === undefined) return undefined;
  const spanMs = Math.max(SHORTEST_SPAN_MS, sinceMs - (last[0]?.atMs ?? sinceMs));
  const seen = Math.min(nowPerSecond, (Math.max(1, accepted) * SECOND_MS) / spanMs);
  const first = before?.first ?? seen;
  const lowered = isOverload ? LOWERED.overload * seen : LOWERED.touched * nowPerSecond;
  const least = share >= LOWERED.mostShare ? 1 : LOWERED.least * first;
  return { perSecond: Math.max(1, least, lowered), sinceMs, isTouched: before !== undefined, first };
};

/** How long nothing is sent at first while nothing is let through, and at most. */
const HELD_MS = { first: 50, longest: 5_000 } as const;

/** A limiter that lets nothing through for so long shuts after too many requests. */
const SHUT_MS = SECOND_MS;

/** Holds all requests back while none is let through, longer each time. */
const createHold = (nowMs: () => number) => {
  let heldMs = 0;
  let untilMs = -Infinity;
  let sinceMs: number | undefined;
  return {
    /** Throws TransportError once nothing has been let through for long, except for a request now and then. */
    untilMs: (): number => {
      const isShut = sinceMs !== undefined && nowMs() - sinceMs > retryPolicy.throttled.shutAfterMs;
      if (isShut && nowMs() < untilMs)
        throw new TransportError(
          0,
          "throttled",
          "nothing is let through any more, however long the run waits",
        );
      return untilMs;
    },
    begin: (): void => {
      sinceMs ??= nowMs();
      // What was under way may be turned away meanwhile.
      if (nowMs() < untilMs) return;
      heldMs = Math.min(HELD_MS.longest, Math.max(HELD_MS.first, 2 * heldMs));
      untilMs = nowMs() + heldMs;
    },
    /** Returns how long it took, in milliseconds. */
    end: (): number => {
      const tookMs = sinceMs === undefined ? 0 : nowMs() - sinceMs;
      heldMs = 0;
      sinceMs = undefined;
      return tookMs;
    },
  };
};

/** How fast requests may follow each other, as learned from what is turned away. */
export const createRate = ({ nowMs, pause }: RealTime, asked: number, signal: AbortSignal | undefined) => {
  let last: { readonly atMs: number; readonly isAccepted: boolean }[] = [];
  let limit: Limit | undefined;
  let letThrough = 0;
  let sentMs = -Infinity;
  let turn = Promise.resolve();
  const hold = createHold(nowMs);
  const note = (isAccepted: boolean): void => {
    last.push({ atMs: nowMs(), isAccepted });
    if (last.length > LAST) last.shift();
  };
  const perSecond = (): number => {
    if (limit === undefined) return asked;
    const raised = RAISED[limit.isTouched ? "after" : "before"] ** (letThrough / limit.perSecond);
    return Math.min(asked, limit.perSecond * raised);
  };
  const takeTurn = async (before: Promise<void>): Promise<void> => {
    await before;
    const leftMs = Math.ceil(Math.max(sentMs + SECOND_MS / perSecond(), hold.untilMs()) - nowMs());
    if (leftMs > 0) await pause(leftMs, signal);
    sentMs = nowMs();
  };
  return {
    /** One request after another, counted from when the last one was sent: after a stall they do not leave together. */
    passed: async (): Promise<void> => {
      if (perSecond() === Infinity) return;
      const own = takeTurn(turn);
      turn = own.catch(() => undefined);
      await own;
    },
    accepted: (): void => {
      // What was shut for a while says nothing about the rate, except that it was too high.
      if (letThrough === 0) last = [];
      if (hold.end() >= SHUT_MS && limit !== undefined) limit = lowered(limit);
      note(true);
      letThrough += 1;
    },
    turnedAway: (): void => {
      note(false);
      // It may be shut after too many requests, whatever comes: how fast they come is known only once it lets some through.
      if (limit !== undefined && letThrough === 0) return hold.begin();
      if (limit !== undefined && nowMs() - limit.sinceMs < LOWERED_AT_MOST_EVERY_MS) return;
      const found = limitOf(last, limit, perSecond(), nowMs());
      if (found === limit) return;
      [limit, last, letThrough] = [found, [], 0];
    },
    restore: (): void => void (limit = undefined),
    report: () => ({ perSecond: limit?.perSecond }),
  };
};
