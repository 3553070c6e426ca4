import { DAY_MS, duration, MINUTE_MS, SECOND_MS } from "../../contract/duration.ts";
import { endpointNames, endpoints, type Endpoint } from "../../contract/forms.ts";
import { pathIn } from "../../contract/text.ts";
import type { Clock, RealTime } from "../clock.ts";
import { credentialsOf, TransportError, type Answer, type Request } from "../exchange.ts";

/** The clock of a case, as far as it waits for the target to let it through. */
export type PatientClock = Pick<
  Clock,
  "kind" | "isTold" | "runs" | "now" | "sleepAsAsked" | "canWaitAsAsked"
>;

/** The clock by which a service counts: its own, which a hook moves, or this machine's. */
export type Counted = "target" | "machine";

export interface WaitingOptions {
  readonly time: RealTime;
  readonly signal?: AbortSignal | undefined;
  /** The target's time if it is known without asking and moved by a hook. */
  readonly toldMs?: (() => number | undefined) | undefined;
}

/** Waits on the clock by which the service counts, as far as that is known. */
export const createWaiting = ({ time, signal, toldMs }: WaitingOptions) => {
  let counted: Counted | undefined;
  return {
    counted: () => counted,
    nowMs: () => (counted === "machine" ? undefined : toldMs?.()) ?? time.nowMs(),
    countsBy: (by: Counted): void => void (counted = by),
    /** Ends early, without an error, once `early` is aborted. */
    on: async (clock: PatientClock, by: Counted | undefined, durationMs: number, early?: AbortSignal) => {
      if (early?.aborted === true) return;
      if (clock.kind === "virtual" && by !== "machine") return clock.sleepAsAsked(durationMs, early);
      const ends = [signal, early].filter((one) => one !== undefined);
      await time.pause(durationMs, AbortSignal.any(ends)).catch((error: unknown) => {
        if (signal?.aborted === true) throw error;
      });
    },
  };
};
type Waiting = ReturnType<typeof createWaiting>;

/** Whether a service may count the request as a wrong attempt. One that refuses with 200 gives no token. */
const isRefusal = ({ status, json, isOfLimiter }: Answer): boolean =>
  (status >= 400 && status < 500 && status !== 429 && isOfLimiter !== true) ||
  (status === 200 && typeof json === "object" && json !== null && !("data" in json) && !isYield(json));
const isYield = (json: object): boolean => "accessToken" in json || "code" in json;

/** A little more than the minute within which refusals count. */
const REST_MS = MINUTE_MS + SECOND_MS;

/** What is refused, by endpoint; all of them if a lock shows at each. */
type Kind = Endpoint | "elsewhere";
const kinds: readonly Kind[] = [...endpointNames, "elsewhere"];
const posts: readonly Kind[] = ["exchange", "refresh"];
const kindOf = ({ path }: Pick<Request, "path">): Kind =>
  endpointNames.find((name) => pathIn(path).endsWith(endpoints[name].path)) ?? "elsewhere";

/** Counts refusals, and how many of them there were when a client was last given a token. */
const createCounts = () => {
  const all = new Map(kinds.map((kind) => [kind, { count: 0, atGrant: 0 }]));
  const forget = (): void => {
    for (const one of all.values()) Object.assign(one, { count: 0, atGrant: 0 });
  };
  let isEverGranted = false;
  let firstMs = -Infinity;
  const sum = (what: "count" | "atGrant", some: readonly Kind[]): number =>
    some.reduce((total, kind) => total + (all.get(kind)?.[what] ?? 0), 0);
  return {
    seen: (some: readonly Kind[]) => sum("count", some),
    seenAtGrant: (some: readonly Kind[]) => sum("atGrant", some),
    refused: (kind: Kind): void => {
      const one = all.get(kind);
      if (one !== undefined) one.count += 1;
    },
    /** Until a client is given a token, nothing tells a lock from a service that never gives one. */
    isEverGranted: () => isEverGranted,
    granted: (): void => {
      isEverGranted = true;
      for (const one of all.values()) one.atGrant = one.count;
    },
    forget,
    /** Without a limit, what was refused longer ago no longer counts. */
    forgetAfterAMinute: (nowMs: number): void => {
      if (nowMs - firstMs <= MINUTE_MS) return;
      firstMs = nowMs;
      forget();
    },
  };
};

/** Wakes all who wait for something to happen. */
const createBell = () => {
  let rung: PromiseWithResolvers<void> | undefined;
  return {
    next: (): Promise<void> => (rung ??= Promise.withResolvers()).promise,
    ring: (): void => {
      rung?.resolve();
      rung = undefined;
    },
  };
};

/** Rests together with all others who have to. */
const createRests = (waiting: Waiting, maxWaitMs: number) => {
  let count = 0;
  let ofMachineMs = 0;
  let resting: AbortController | undefined;
  return {
    count: () => count,
    /** Returns whether this ended the rest for all. `learned` is the number of refusals that made it necessary, unless asked for. */
    rest: async (clock: PatientClock, durationMs: number, learned: number | undefined): Promise<boolean> => {
      const isOfMachine = clock.kind === "real" || waiting.counted() === "machine";
      const hereMs = isOfMachine ? durationMs : 0;
      if (learned !== undefined && ofMachineMs + hereMs > maxWaitMs) throw tooLong(learned, maxWaitMs);
      const own = (resting ??= new AbortController());
      await waiting.on(clock, waiting.counted(), durationMs, own.signal);
      if (resting !== own) return false;
      resting = undefined;
      count += 1;
      ofMachineMs += hereMs;
      own.abort();
      return true;
    },
  };
};

/** Lets a number of requests be refused, and then rests for a minute. Until it has an answer, any request may be refused. */
export const createRefusals = (waiting: Waiting, asked: number, maxWaitMs: number) => {
  const counts = createCounts();
  let most = asked;
  let counted = kinds;
  let underWay = 0;
  let lastMs = -Infinity;
  const rests = createRests(waiting, maxWaitMs);
  const answers = createBell();
  const rest = async (clock: PatientClock): Promise<void> => {
    const leftMs = REST_MS - Math.max(0, waiting.nowMs() - lastMs);
    if (leftMs <= 0) return counts.forget();
    const isOver = await rests.rest(clock, leftMs, most < asked ? most : undefined);
    if (isOver) counts.forget();
  };
  return {
    seen: () => counts.seen(kinds),
    /** Returns once no request is under way. */
    settled: async (): Promise<void> => {
      for (let left = underWay; left > 0; left = underWay) await answers.next();
    },
    isEverGranted: counts.isEverGranted,
    /** How often refused requests had to be spaced. */
    rests: rests.count,
    admit: async (request: Request, clock: PatientClock, isControl: boolean): Promise<void> => {
      const mustWait = (): boolean => !isControl && counts.seen(counted) + underWay >= most;
      if (counted.includes(kindOf(request)))
        while (mustWait())
          if (underWay === 0) await rest(clock);
          else await answers.next();
      underWay += 1;
    },
    ended: (request: Request, answer: Answer | undefined): void => {
      underWay -= 1;
      const nowMs = waiting.nowMs();
      if (most === Infinity) counts.forgetAfterAMinute(nowMs);
      if (answer !== undefined && isRefusal(answer)) {
        counts.refused(kindOf(request));
        lastMs = nowMs;
      } else if (answer !== undefined && credentialsOf(answer).accessToken !== undefined) counts.granted();
      answers.ring();
    },
    /**
     * Half of what was refused without harm, after a rest. At first this endpoint alone counts; if that was not enough,
     * whatever takes a credential, and then everything.
     */
    lowering: (locked: Kind | undefined): (() => void) => {
      const some = locked === undefined || counted === posts ? kinds : most < asked ? posts : [locked];
      const harmless = Math.min(most, counts.seenAtGrant(some), counts.seen(some));
      return () => {
        counted = some;
        most = Math.max(1, Math.floor(harmless / 2));
      };
    },
    report: () => ({ refusedPerMinute: most < asked ? most : undefined }),
  };
};
type Refusals = ReturnType<typeof createRefusals>;

const tooLong = (most: number, maxWaitMs: number): TransportError =>
  new TransportError(
    0,
    "locked",
    `the service locks clients out after refused requests, and ${most} of them a minute would take longer than --max-wait, ${duration(maxWaitMs)}`,
  );

/** Fewer refusals lock nobody out. */
const LEAST_REFUSALS = 3;
/** So many valid flows are refused at once before it counts as a lock, which ends after a pause. */
const LOOKS_AT_ONCE = 6;
/** A service that locks clients out more often than this, though refusals are spaced, is not understood. */
const MOST_LOCKOUTS = 10;
/** How a lock is waited out: on the clock that a hook moves, then on this machine's, in all less than a minute. */
const lockSteps = {
  target: [10_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, DAY_MS],
  machine: [1_000, 2_000, 4_000, 8_000, 15_000, 15_000],
} as const satisfies Record<Counted, readonly number[]>;

/** The endpoint at which a valid flow is refused; undefined if it is served. */
type Look = () => Promise<Kind | undefined>;

/** How a valid flow of the client of a case goes, and one of another client. */
export interface Looks {
  readonly look: Look;
  readonly lookOther?: Look | undefined;
}

/** Returns how long a lock took, once valid requests are served again; undefined if they are not. */
const waitOut = async (waiting: Waiting, clock: PatientClock, look: Look): Promise<number | undefined> => {
  for (const by of clock.kind === "virtual" ? (["target", "machine"] as const) : (["machine"] as const)) {
    let waitedMs = 0;
    for (const stepMs of lockSteps[by]) {
      await waiting.on(clock, by, stepMs);
      waitedMs += stepMs;
      if ((await look()) !== undefined) continue;
      waiting.countsBy(by);
      return waitedMs;
    }
  }
  return undefined;
};

export const createLock = (waiting: Waiting, refusals: Refusals) => {
  const met = { lockouts: 0, longestLockMs: 0 };
  let ended: string | undefined;
  let isBroken = false;
  let holding: AbortController | undefined;
  const passed = async (clock: PatientClock): Promise<void> => {
    // Another may be found at once.
    for (let held = holding; held !== undefined; held = holding)
      await waiting.on(clock, undefined, DAY_MS, held.signal);
    if (ended !== undefined) throw new TransportError(0, "locked", ended);
  };
  const find = async (clock: PatientClock, looks: Looks): Promise<void> => {
    if (holding === undefined) {
      const refused = refusals.seen();
      if (ended !== undefined || isBroken || !refusals.isEverGranted() || refused < LEAST_REFUSALS) return;
      const locked = await looks.look();
      if (locked === undefined) return;
      if (holding === undefined) return hold(clock, looks, locked, refused);
    }
    // What is known by now is found out for all.
    await passed(clock).catch(() => undefined);
  };
  const hold = async (
    clock: PatientClock,
    { look, lookOther }: Looks,
    locked: Kind,
    refused: number,
  ): Promise<void> => {
    holding = new AbortController();
    try {
      // What was under way beside it may have been the cause, or a number of requests may be refused without a pause.
      await refusals.settled();
      for (let looks = 0; looks < LOOKS_AT_ONCE; looks += 1) if ((await look()) === undefined) return;
      const lower = refusals.lowering(locked === "authorize" ? undefined : locked);
      const lockMs = await waitOut(waiting, clock, look);
      if (lockMs !== undefined) {
        met.lockouts += 1;
        met.longestLockMs = Math.max(met.longestLockMs, lockMs);
        lower();
        if (met.lockouts === MOST_LOCKOUTS)
          ended = `clients were locked out ${MOST_LOCKOUTS} times, however far refused requests were apart`;
      } else if (lookOther !== undefined && (await lookOther()) !== undefined) {
        // A service that serves nobody any more locks nobody out.
        isBroken = true;
      } else {
        met.lockouts += 1;
        ended = `valid requests have been refused since ${refused} others were, for more than a minute`;
      }
    } finally {
      holding.abort();
      holding = undefined;
    }
  };
  return { passed, find, count: () => met.lockouts, report: () => ({ ...met, ended }) };
};
