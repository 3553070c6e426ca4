import { SECOND_MS } from "../../contract/duration.ts";
import type { RealTime } from "../clock.ts";
import type { Answer, Request } from "../exchange.ts";
import { createLock, createRefusals, createWaiting, type Counted, type WaitingOptions } from "./lockouts.ts";
import type { PatientClock } from "./throttling.ts";

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
  /** The statuses of what a limiter turned away. */
  readonly turnedAwayWith: readonly number[];
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
  const { time, signal } = options;
  const turnedAwayWith = new Set<number>();
  const waiting = createWaiting(options);
  const rate = createRate(time, pace.perSecond ?? Infinity);
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
      const pauseMs = rate.pauseMs();
      if (pauseMs > 0) await time.pause(pauseMs, signal);
      return (answer) => {
        refusals.ended(request, answer);
        if (answer !== undefined && !asksToComeBack(answer)) rate.accepted();
      };
    },
    /** A request was asked to come back. */
    turnedAway: ({ status }: Pick<Answer, "status">): void => {
      turnedAwayWith.add(status);
      if (waiting.counted() !== "target") rate.turnedAway();
    },
    /** It got through, having waited only on this clock. */
    gotThrough: (by: Counted): void => {
      waiting.countsBy(by);
      if (by === "target") rate.restore();
    },
    countsBy: waiting.counted,
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

/** Whether an answer says that there were too many requests, or may say so. */
export const asksToComeBack = ({ status }: Pick<Answer, "status">): boolean =>
  status === 429 || status === 503;

/** The last answers show how many of them were turned away, and how fast the others got through. */
const LAST = 64;
const SHORTEST_SPAN_MS = 100;
/** From this share on, it is the rate that is too high; fewer are turned away by chance, or as a limit is touched. */
const OVERLOAD = 0.1;
/** The rate after an overload, relative to that of what got through, and after a single request was turned away. */
const LOWERED = { overload: 0.7, touched: 0.9, least: 0.6 } as const;
/** What was under way when the rate was lowered may still be turned away. */
const LOWERED_AT_MOST_EVERY_MS = 200;
/** The share by which the rate rises each second until it touches the limit, and afterwards. */
const RAISED = { before: 0.1, after: 0.005 } as const;

const createRate = ({ nowMs }: RealTime, asked: number) => {
  const last: { readonly atMs: number; readonly isAccepted: boolean }[] = [];
  let limit:
    | { perSecond: number; readonly seen: number; readonly sinceMs: number; touched: boolean }
    | undefined;
  let nextMs = 0;
  const note = (isAccepted: boolean): void => {
    last.push({ atMs: nowMs(), isAccepted });
    if (last.length > LAST) last.shift();
  };
  const now = (): number => {
    if (limit === undefined) return asked;
    const raised = RAISED[limit.touched ? "after" : "before"] * ((nowMs() - limit.sinceMs) / SECOND_MS);
    return Math.min(asked, limit.perSecond * (1 + raised));
  };
  return {
    /** How long the next request has to wait. */
    pauseMs: (): number => {
      const perSecond = now();
      if (perSecond === Infinity) return 0;
      const atMs = Math.max(nowMs(), nextMs);
      nextMs = atMs + SECOND_MS / perSecond;
      return atMs - nowMs();
    },
    accepted: (): void => note(true),
    turnedAway: (): void => {
      note(false);
      const sinceMs = nowMs();
      if (limit !== undefined && sinceMs - limit.sinceMs < LOWERED_AT_MOST_EVERY_MS) return;
      const accepted = last.filter(({ isAccepted }) => isAccepted).length;
      const spanMs = Math.max(SHORTEST_SPAN_MS, sinceMs - (last[0]?.atMs ?? sinceMs));
      if (accepted <= last.length * (1 - OVERLOAD)) {
        const seen = Math.min(now(), (Math.max(1, accepted) * SECOND_MS) / spanMs);
        limit = { perSecond: LOWERED.overload * seen, seen, sinceMs, touched: limit !== undefined };
        last.length = 0;
      } else if (limit !== undefined) {
        const perSecond = Math.max(LOWERED.least * limit.seen, LOWERED.touched * now());
        limit = { ...limit, perSecond, sinceMs, touched: true };
      }
    },
    restore: (): void => void (limit = undefined),
    report: () => ({ perSecond: limit && now() }),
  };
};
