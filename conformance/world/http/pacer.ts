import { headerOf, type Answer, type Request } from "../exchange.ts";
import {
  createLock,
  createRefusals,
  createWaiting,
  type Counted,
  type PatientClock,
  type WaitingOptions,
} from "./lockouts.ts";
import { createRate } from "./rate.ts";

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
  const limiter = createCounted(options);
  const waiting = createWaiting(options);
  const rate = createRate(options.time, pace.perSecond ?? Infinity, options.signal);
  const refusals = createRefusals(waiting, pace.refusedPerMinute ?? Infinity, maxWaitMs);
  const lock = createLock(waiting, refusals);
  const forms = createForms(refusals.isEverGranted);
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
      await rate.passed().catch((error: unknown) => {
        refusals.ended(request, undefined);
        throw error;
      });
      return (answer) => {
        refusals.ended(request, answer);
        if (answer !== undefined && !forms.isOfLimiter(answer)) rate.accepted();
      };
    },
    isOfLimiter: forms.forbidsForLimiter,
    servedAfter: forms.servedAfter,
    /** A connection ended without an answer, as where a limiter closes those of whoever asks too fast. */
    cutOff: (): void => {
      if (!forms.isCutForLimiter()) return;
      turnedAwayWith.add(cut);
      rate.turnedAway();
    },
    /** A request was asked to come back. Only a limiter that counts while time passes by itself is slowed down for. */
    turnedAway: (answer: Answer, clock: Pick<PatientClock, "runs">): void => {
      if (!forms.isOfLimiter(answer)) return;
      turnedAwayWith.add(answer.status);
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

/** The connection ended without an answer. */
const cut = "closed connections";

/** How a request was turned away. */
export type TurnedAway = Answer | typeof cut;

/** By which answers of a limiter are told from the service's own with the same status. */
const formOf = (by: TurnedAway): string =>
  by === cut ? cut : `${by.status} ${headerOf(by, "content-type")}`;

/** Firewalls for web applications and content delivery networks turn too many requests away with it. */
const isForbiddingPage = ({ status, headers }: Pick<Answer, "status" | "headers">): boolean =>
  status === 403 && headers.some(([name, value]) => name === "content-type" && value.startsWith("text/html"));

/** Tells what a limiter answers from what the service does. */
const createForms = (isEverGranted: () => boolean) => {
  const known = new Set<string>();
  let forbidsByPage = false;
  return {
    /** A service may give a 503 of its own for some inputs, however slowly they come. */
    isOfLimiter: (answer: Answer): boolean =>
      answer.status === 429 || (asksToComeBack(answer) && known.has(formOf(answer))),
    /** A service may close the connections of some inputs, however slowly they come. */
    isCutForLimiter: (): boolean => known.has(cut),
    /** Sent again unchanged, a request that was turned away like this was served. */
    servedAfter: (by: TurnedAway): void => void known.add(formOf(by)),
    /** What a service refuses with before it has given any token is its own way to refuse. */
    forbidsForLimiter: (answer: Answer): boolean => {
      if (!isForbiddingPage(answer)) return false;
      forbidsByPage ||= !isEverGranted();
      return !forbidsByPage;
    },
  };
};
