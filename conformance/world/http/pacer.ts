import { SECOND_MS } from "../../contract/duration.ts";
import type { RealTime } from "../clock.ts";
import { TransportError, type Answer, type Request } from "../exchange.ts";
import {
  createLock,
  createRefusals,
  createWaiting,
  type Counted,
  type PatientClock,
  type WaitingOptions,
} from "./lockouts.ts";
import { retryPolicy } from "./retry.ts";

/** How fast a run may ask: requests per second, and requests per minute that end in a refusal. */
export interface Pace {
  readonly perSecond?: number | undefined;
  readonly refusedPerMinute?: number | undefined;
}

export interface PacerOptions extends WaitingOptions {
  /** What the user allows; the run never goes faster. */
  readonly pace?: Pace | undefined;
  /** How long the run may rest in this machine's time, in milliseconds, because a service locks clients out. */
  readonly maxWaitMs?: number | undefined;
}

/** What a service was seen to do against too many requests. */
export interface DefenceReport {
  /** Requests per second that the run slowed down to. */
  readonly perSecond: number | undefined;
  /** The statuses with which a limiter turned requests away, or "closed connections". */
  readonly turnedAwayWith: readonly (number | string)[];
  /** How often a client was locked out, and for how long at most, in milliseconds. */
  readonly lockouts: number;
  readonly longestLockMs: number;
  /** Refused requests per minute that the run slowed down to. */
  readonly refusedPerMinute: number | undefined;
  /** Why the run no longer asks anything. */
  readonly ended: string | undefined;
}

/** What all requests to the target share: two rates, which are lowered once the service defends itself. */
export type Pacer = ReturnType<typeof createPacer>;

export const createPacer = ({ pace = {}, maxWaitMs = Infinity, ...options }: PacerOptions) => {
  const turnedAwayWith = new Set<number | string>();
  let forbidsByPage = false;
  const limiter = createCounted(options);
  const waiting = createWaiting(options);
  const rate = createRate(options.time, pace.perSecond ?? Infinity, options.signal);
  const refusals = createRefusals(waiting, pace.refusedPerMinute ?? Infinity, maxWaitMs);
  const lock = createLock(waiting, refusals);
  return {
    /**
     * Returns once a request may be sent, with what is to be told of its end: its answer, or nothing. `isControl` is one
     * that finds out whether clients are still locked out.
     */
    admit: async (
      request: Request,
      clock: PatientClock,
      isControl = false,
    ): Promise<(answer?: Answer) => void> => {
      if (!isControl) await lock.passed(clock);
      await refusals.admit(request, clock, isControl);
      await rate.passed();
      return (answer) => {
        refusals.ended(request, answer);
        if (answer !== undefined && !asksToComeBack(answer)) rate.accepted();
      };
    },
    /** Whether a limiter gave it. What a service refuses with before it has given any token is its own way to refuse. */
    isOfLimiter: (answer: Answer): boolean => {
      if (!isForbiddingPage(answer)) return false;
      forbidsByPage ||= !refusals.isEverGranted();
      return !forbidsByPage;
    },
    /** A connection ended without an answer, as where a limiter closes those of whoever asks too fast. */
    cutOff: (): void => {
      turnedAwayWith.add("closed connections");
      rate.turnedAway();
    },
    /** A request was asked to come back. Only a limiter that counts while time passes by itself is slowed down for. */
    turnedAway: ({ status }: Pick<Answer, "status">, clock: Pick<PatientClock, "runs">): void => {
      turnedAwayWith.add(status);
      if (clock.runs() || limiter.counted() === "machine") rate.turnedAway();
    },
    ...limiter,
    learnClock: (waitedBy: Counted, isLetThrough: boolean): void => {
      limiter.learnClock(waitedBy, isLetThrough);
      if (limiter.counted() === "target") rate.restore();
    },
    /** How often clients were locked out, and how often refused requests had to be spaced, so far. */
    spacing: () => ({ lockouts: lock.count(), rests: refusals.rests() }),
    /** After a case that did not pass: whether clients were locked out, and what was played says nothing. */
    findLock: lock.find,
    report: (): DefenceReport => ({
      turnedAwayWith: [...turnedAwayWith],
      ...rate.report(),
      ...lock.report(),
      ...refusals.report(),
    }),
  };
};

/** How many requests that wait in vain it takes at most to doubt that a limiter heeds the clock that a hook moves. */
const MOST_TRUST = 8;

/** Learns by which clock a limiter counts, from what got through after only one of them had moved on. */
const createCounted = ({ time, toldMs }: WaitingOptions) => {
  let trust = 0;
  return {
    counted: (): Counted | undefined => (trust > 0 ? "target" : trust < 0 ? "machine" : undefined),
    /** From now on: the clock on which alone so much time has passed. */
    elapsed: () => {
      const [fromMs, toldFromMs] = [time.nowMs(), toldMs?.()];
      return (waitMs: number): Counted | undefined => {
        const tookMs = time.nowMs() - fromMs;
        if (tookMs < waitMs) return "target";
        const toldNowMs = toldMs?.();
        if (toldFromMs === undefined || toldNowMs === undefined) return undefined;
        return toldNowMs === toldFromMs ? "machine" : undefined;
      };
    },
    learnClock: (waitedBy: Counted, isLetThrough: boolean): void => {
      // While the target's clock stood still nothing else can have let it through; after a move it may have been chance.
      if (isLetThrough && waitedBy === "machine") trust = -Infinity;
      else if (isLetThrough) trust = Math.min(MOST_TRUST, trust + 1);
      // Others may have come first.
      else if (waitedBy === "target" && trust > 0) trust -= 1;
    },
  };
};

/** Whether an answer says that there were too many requests, or may say so. */
export const asksToComeBack = ({ status, isOfLimiter }: Pick<Answer, "status" | "isOfLimiter">): boolean =>
  status === 429 || status === 503 || isOfLimiter === true;

/** Firewalls for web applications and content delivery networks turn too many requests away with it. */
const isForbiddingPage = ({ status, headers }: Pick<Answer, "status" | "headers">): boolean =>
  status === 403 && headers.some(([name, value]) => name === "content-type" && value.startsWith("text/html"));

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

const createRate = ({ nowMs, pause }: RealTime, asked: number, signal: AbortSignal | undefined) => {
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
