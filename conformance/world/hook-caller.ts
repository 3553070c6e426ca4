import { request, type Dispatcher } from "undici";
import type { HookDefinition } from "../contract/profile-fetched.ts";
import { realTime, type RealTime } from "./clock.ts";
import { HookError, keyOfHook, runHook, type HookAnswer, type HookValues } from "./hooks.ts";
import { createRoad, OUTAGE_BUDGET_MS, type Road, type RoadReport } from "./road.ts";
import { retryAfterMs } from "./throttling.ts";
import { MOST_OUTAGES, MOST_SENDS, reasonOf } from "./transport.ts";

/** What calls of one hook met on their way. */
export interface HookTroubles {
  /** The hook's key in the profile. */
  readonly key: string;
  /** Calls that ended without a whole answer. */
  readonly lost: number;
  /** Calls that were made again, because nobody had got them or because that changes nothing. */
  readonly madeAgain: number;
  /** Answers that asked to come back later, and were obeyed. */
  readonly throttled: number;
}

export interface HookReport {
  /** Of hooks that met any. */
  readonly troubles: readonly HookTroubles[];
  /** Hosts of hooks, other than the target's, at which nobody listened for a while. */
  readonly outages: readonly ({ readonly host: string } & Pick<
    RoadReport,
    "outages" | "longestOutageMs" | "stayedAway"
  >)[];
}

/** Calls hooks, and calls them again where the target restarts and repeating is harmless. */
export interface HookCaller {
  /** Throws HookError where the hook does not do what it is there for. */
  readonly call: (name: string, hook: HookDefinition, values: HookValues) => Promise<HookAnswer>;
  readonly report: () => HookReport;
}

export interface HookCallerOptions {
  readonly signal: AbortSignal;
  /** What hooks over HTTP are called through; undici's own where left out. */
  readonly dispatcher?: Dispatcher | undefined;
  /** The target's origin and the road there, which hooks at the same address share. */
  readonly target: { readonly origin: string; readonly road: Road };
  /** A number from 0 to below 1, for jitter. */
  readonly random: () => number;
  readonly outageBudgetMs?: number | undefined;
  readonly time?: RealTime;
}

/** These may be called any number of times: one reads, the other says the same thing again. */
const harmless: ReadonlySet<string> = new Set(["clock.now", "callback.register"]);

/** What a gateway answers while the service behind it is away. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

const KNOCK_TIMEOUT_MS = 10_000;

export const createHookCaller = (options: HookCallerOptions): HookCaller => {
  const { signal, dispatcher, target, random, time = realTime } = options;
  const outageBudgetMs = options.outageBudgetMs ?? OUTAGE_BUDGET_MS;
  const roads = new Map<string, Road>();
  const met = new Map<string, { lost: number; madeAgain: number; throttled: number }>();

  const metBy = (name: string) => {
    const one = met.get(name) ?? { lost: 0, madeAgain: 0, throttled: 0 };
    met.set(name, one);
    return one;
  };

  /** The road to the hook's own address; hooks that run beside the target share the target's. */
  const roadOf = (origin: string): Road => {
    if (origin === target.origin) return target.road;
    const known = roads.get(origin);
    if (known !== undefined) return known;
    const knock = (): Promise<boolean> => isListening(origin, signal, dispatcher);
    const road = createRoad({ knock, random, signal, outageBudgetMs, time });
    roads.set(origin, road);
    return road;
  };

  /** Waits for as long as this end of a call asks for; false where the call has failed for good. */
  const canGoOn = async (name: string, error: HookError, road: Road, state: Tries): Promise<boolean> => {
    const { end } = error;
    if (end === undefined || signal.aborted) return false;
    if (end.kind === "lost") {
      metBy(name).lost += 1;
      if (end.reason === "refused") return (state.outages += 1) <= MOST_OUTAGES && road.untilBack();
      if (end.reason !== "closed" || !harmless.has(name) || (state.cuts += 1) >= MOST_SENDS) return false;
      await time.pause(road.backOffMs(state.cuts), signal);
      return true;
    }
    const askedMs = retryAfterMs({
      exchange: 0,
      status: end.status,
      headers: end.headers,
      text: "",
      json: undefined,
    });
    const isAway = harmless.has(name) && awayStatuses.has(end.status);
    if (askedMs === undefined && !isAway) return false;
    state.turnedAway += 1;
    const waitMs = askedMs ?? road.backOffMs(state.turnedAway);
    if (time.nowMs() - state.startedMs + waitMs > outageBudgetMs) return false;
    if (askedMs !== undefined) metBy(name).throttled += 1;
    await time.pause(Math.max(waitMs, road.backOffMs(1)), signal);
    return true;
  };

  return {
    call: async (name, hook, values) => {
      if (!("http" in hook)) return runHook(name, hook, values, { interrupted: signal });
      const { origin } = new URL(hook.http.url.replaceAll(/\{\{\w+\}\}/g, "1"));
      const road = roadOf(origin);
      const state: Tries = { cuts: 0, outages: 0, turnedAway: 0, startedMs: time.nowMs() };
      for (;;) {
        try {
          const answer = await runHook(name, hook, values, { interrupted: signal, dispatcher });
          // How long hooks take says nothing of how far away the target is.
          if (road !== target.road) road.answered(0);
          return answer;
        } catch (error) {
          if (!(error instanceof HookError)) throw error;
          const goesOn = await canGoOn(name, error, road, state).catch(() => false);
          if (!goesOn) throw error;
          metBy(name).madeAgain += 1;
        }
      }
    },
    report: () => ({
      troubles: [...met].map(([name, counts]) => ({ key: keyOfHook(name), ...counts })),
      outages: [...roads].flatMap(([origin, road]) => {
        const { outages, longestOutageMs, stayedAway } = road.report();
        return outages === 0 ? [] : [{ host: new URL(origin).host, outages, longestOutageMs, stayedAway }];
      }),
    }),
  };
};

interface Tries {
  cuts: number;
  outages: number;
  turnedAway: number;
  readonly startedMs: number;
}

/** Whether anybody takes connections there: what is answered does not matter. */
const isListening = async (
  origin: string,
  signal: AbortSignal,
  dispatcher: Dispatcher | undefined,
): Promise<boolean> => {
  try {
    const answer = await request(origin, {
      method: "HEAD",
      signal,
      headersTimeout: KNOCK_TIMEOUT_MS,
      bodyTimeout: KNOCK_TIMEOUT_MS,
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    await answer.body.dump();
    return true;
  } catch (error) {
    return reasonOf(error) !== "refused";
  }
};
