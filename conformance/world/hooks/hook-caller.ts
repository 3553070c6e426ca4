import type { Dispatcher } from "undici";
import type { HookDefinition } from "../../contract/profile-fetched.ts";
import { HookError, keyOfHook, runHook, type HookAnswer, type HookValues } from "./hooks.ts";
import {
  createConnectionHealth,
  type ConnectionHealth,
  type ConnectionReport,
} from "../http/connection-health.ts";
import { retryAfterMs } from "../http/throttling.ts";
import { reasonOf, receive } from "../http/receive.ts";
import { sendWithRetries, type Retries, type Setback } from "../http/retry.ts";

export interface HookTroubles {
  readonly key: string;
  /** Calls that ended without a complete answer. */
  readonly lost: number;
  /** Calls that were repeated, because they were not received or because repeating is harmless. */
  readonly madeAgain: number;
  /** Answers that asked to retry later, and were obeyed. */
  readonly throttled: number;
}

/** Time spent in calls of one hook, in milliseconds. */
export interface HookTimes {
  readonly key: string;
  readonly calls: number;
  readonly totalMs: number;
  readonly longestMs: number;
}

export interface HookReport {
  readonly times: readonly HookTimes[];
  /** Since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
  readonly troubles: readonly HookTroubles[];
  /** Hosts of hooks, other than the target's, that refused connections for a while. */
  readonly outages: readonly ({ readonly host: string } & Pick<
    ConnectionReport,
    "outages" | "longestOutageMs" | "stayedAway"
  >)[];
}

/** Calls hooks, and repeats calls if the target restarts and repeating is harmless. */
export type HookCaller = ReturnType<typeof createHookCaller>;

export interface HookCallerOptions {
  readonly signal: AbortSignal;
  /** The dispatcher for hooks over HTTP. */
  readonly dispatcher: Dispatcher;
  /**
   * The dispatcher for calls that must not be repeated. It keeps connections only briefly: one that has been idle for
   * long may be closed by the peer just as a call is sent, and then nobody knows if it was obeyed.
   */
  readonly brieflyKept: Dispatcher;
  /** The target's origin and connection health, which hooks at the same address share. */
  readonly target: { readonly origin: string; readonly health: ConnectionHealth };
  readonly retries: Retries;
}

/** How long a connection may be idle for a call that must not be repeated: far less than servers keep theirs, in milliseconds. */
export const brieflyKept = { keepAliveTimeout: 500, keepAliveMaxTimeout: 500 };

/** Hooks that may be called any number of times: one reads, the other repeats the same setting. */
const harmless: ReadonlySet<string> = new Set(["clock.now", "callback.register"]);

/** Statuses of a gateway whose service is away. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

const PROBE_TIMEOUT_MS = 10_000;

/** Counts and times calls by the name of their hook. */
const createStopwatch = ({ nowMs }: Retries["time"]) => {
  const startedMs = nowMs();
  const times = new Map<string, Omit<HookTimes, "key">>();
  return {
    timed: async <T>(name: string, call: () => Promise<T>): Promise<T> => {
      const calledMs = nowMs();
      try {
        return await call();
      } finally {
        const tookMs = nowMs() - calledMs;
        const { calls, totalMs, longestMs } = times.get(name) ?? { calls: 0, totalMs: 0, longestMs: 0 };
        times.set(name, {
          calls: calls + 1,
          totalMs: totalMs + tookMs,
          longestMs: Math.max(longestMs, tookMs),
        });
      }
    },
    report: (): Pick<HookReport, "times" | "elapsedMs"> => ({
      times: [...times].map(([name, took]) => ({ key: keyOfHook(name), ...took })),
      elapsedMs: nowMs() - startedMs,
    }),
  };
};

/** Connection health by hook address. Hooks at the target's address share the target's. */
const createHealths = ({ signal, dispatcher, target, retries }: HookCallerOptions) => {
  const healths = new Map<string, ConnectionHealth>();
  return {
    of: (origin: string): ConnectionHealth => {
      if (origin === target.origin) return target.health;
      const known = healths.get(origin);
      if (known !== undefined) return known;
      const health = createConnectionHealth(() => isListening(origin, signal, dispatcher), retries);
      healths.set(origin, health);
      return health;
    },
    outages: (): HookReport["outages"] =>
      [...healths].flatMap(([origin, health]) => {
        const { outages, longestOutageMs, stayedAway } = health.report();
        return outages === 0 ? [] : [{ host: new URL(origin).host, outages, longestOutageMs, stayedAway }];
      }),
  };
};

export const createHookCaller = (options: HookCallerOptions) => {
  const { signal, dispatcher, brieflyKept, target, retries } = options;
  const healths = createHealths(options);
  const met = new Map<string, { lost: number; madeAgain: number; throttled: number }>();

  const stopwatch = createStopwatch(retries.time);

  const metBy = (name: string) => {
    const one = met.get(name) ?? { lost: 0, madeAgain: 0, throttled: 0 };
    met.set(name, one);
    return one;
  };

  const setbackOf = (name: string, error: unknown): Setback | undefined => {
    if (!(error instanceof HookError) || error.end === undefined || signal.aborted) return undefined;
    const { end } = error;
    if (end.kind === "lost") {
      metBy(name).lost += 1;
      return { kind: "lost", reason: end.reason };
    }
    const askedMs = retryAfterMs(end);
    if (askedMs !== undefined) metBy(name).throttled += 1;
    const isAway = harmless.has(name) && awayStatuses.has(end.status);
    return askedMs === undefined && !isAway ? undefined : { kind: "turned away", retryAfterMs: askedMs };
  };

  return {
    /** Throws HookError if the hook fails. */
    call: async (name: string, hook: HookDefinition, values: HookValues): Promise<HookAnswer> => {
      const run = (through?: Dispatcher) =>
        stopwatch.timed(name, () =>
          runHook(name, hook, values, { interrupted: signal, dispatcher: through }),
        );
      if (!("http" in hook)) return run();
      const health = healths.of(new URL(hook.http.url.replaceAll(/\{\{\w+\}\}/g, "1")).origin);
      return sendWithRetries(retries, {
        health,
        isHarmless: harmless.has(name),
        send: async () => {
          const answer = await run(harmless.has(name) ? dispatcher : brieflyKept);
          // The duration of hooks says nothing about how far away the target is.
          if (health !== target.health) health.answered(0);
          return answer;
        },
        setbackOf: (error) => setbackOf(name, error),
        onRepeat: () => void (metBy(name).madeAgain += 1),
      });
    },
    report: (): HookReport => ({
      ...stopwatch.report(),
      troubles: [...met].map(([name, counts]) => ({ key: keyOfHook(name), ...counts })),
      outages: healths.outages(),
    }),
  };
};

/** Whether the address accepts connections, whatever it answers. */
const isListening = async (origin: string, signal: AbortSignal, dispatcher: Dispatcher): Promise<boolean> => {
  try {
    const request = { origin, method: "HEAD", path: "/", headers: [] };
    await receive(dispatcher, request, { timeoutMs: PROBE_TIMEOUT_MS, signal });
    return true;
  } catch (error) {
    return reasonOf(error) !== "refused";
  }
};
