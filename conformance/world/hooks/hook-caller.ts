import type { Dispatcher } from "undici";
import type { InProcessHooks, HookValues, HookDefinition } from "../../contract/profile-fetched.ts";
import { HookError, keyOfHook, runHook, type HookAnswer } from "./hooks.ts";
import {
  createConnectionHealth,
  type ConnectionHealth,
  type ConnectionReport,
} from "../http/connection-health.ts";
import { errorMessage } from "../../contract/text.ts";
import { retryAfterMs } from "../http/throttling.ts";
import { isListening } from "../http/receive.ts";
import { sendWithRetries, type Retries, type Setback } from "../http/retry.ts";

/** How the calls of one hook went; times are in milliseconds. */
export interface HookUse {
  readonly key: string;
  readonly calls: number;
  readonly totalMs: number;
  readonly longestMs: number;
  /** Calls that ended without a complete answer. */
  readonly lost: number;
  /** Calls that were repeated, because they were not received or because repeating is harmless. */
  readonly madeAgain: number;
  /** Answers that asked to retry later, and were obeyed. */
  readonly throttled: number;
}

export interface HookReport {
  readonly hooks: readonly HookUse[];
  /** Since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
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
   * The dispatcher for calls that must not be repeated. It keeps no connections: an idle one may be closed by the peer, or
   * by a gateway before it, just as a call is sent, and then nobody knows if it was obeyed.
   */
  readonly unkept: Dispatcher;
  /** The target's origin and connection health, which hooks at the same address share. */
  readonly target: { readonly origin: string; readonly health: ConnectionHealth };
  readonly retries: Retries;
  readonly inProcess?: InProcessHooks | undefined;
}

/** Hooks that may be called any number of times: one reads, the other repeats the same setting. */
const harmless: ReadonlySet<string> = new Set(["clock.now", "callback.register"]);

/** Statuses of a gateway whose service is away. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

const PROBE_TIMEOUT_MS = 10_000;

/** Connection health by hook address. Hooks at the target's address share the target's. */
const createHealths = ({ signal, dispatcher, target, retries }: HookCallerOptions) => {
  const healths = new Map<string, ConnectionHealth>();
  return {
    of: (origin: string): ConnectionHealth => {
      if (origin === target.origin) return target.health;
      const known = healths.get(origin);
      if (known !== undefined) return known;
      const probed = { origin, method: "HEAD", path: "/", headers: [] };
      const probe = { timeoutMs: PROBE_TIMEOUT_MS, signal };
      const health = createConnectionHealth(() => isListening(dispatcher, probed, probe), retries);
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

/** In a later turn of the event loop, like an answer that comes over a connection. */
const runInProcess = async (
  name: string,
  hook: InProcessHooks[string],
  values: HookValues,
): Promise<HookAnswer> => {
  await new Promise((resolve) => void setImmediate(resolve));
  try {
    return { text: "", json: await hook(values) };
  } catch (error) {
    throw new HookError(name, errorMessage(error));
  }
};

type Use = { -readonly [Key in keyof HookUse]: HookUse[Key] };

const unused = { calls: 0, totalMs: 0, longestMs: 0, lost: 0, madeAgain: 0, throttled: 0 };

/** What to do about a failed call, which is counted; undefined if it is not to be repeated. */
const setbackOf = (name: string, use: Use, error: unknown): Setback | undefined => {
  if (!(error instanceof HookError) || error.end === undefined) return undefined;
  const { end } = error;
  if (end.kind === "lost") {
    use.lost += 1;
    return { kind: "lost", reason: end.reason };
  }
  const askedMs = retryAfterMs(end);
  if (askedMs !== undefined) use.throttled += 1;
  const isAway = harmless.has(name) && awayStatuses.has(end.status);
  return askedMs === undefined && !isAway ? undefined : { kind: "turned away", retryAfterMs: askedMs };
};

export const createHookCaller = (options: HookCallerOptions) => {
  const { signal, dispatcher, unkept, retries, inProcess } = options;
  const { nowMs } = retries.time;
  const startedMs = nowMs();
  const healths = createHealths(options);
  const uses = new Map<string, Use>();

  return {
    /** Throws HookError if the hook fails. */
    call: async (name: string, hook: HookDefinition, values: HookValues): Promise<HookAnswer> => {
      const use = uses.get(name) ?? { key: keyOfHook(name), ...unused };
      uses.set(name, use);
      const own = inProcess?.[name];
      const run = async (through?: Dispatcher): Promise<HookAnswer> => {
        const calledMs = nowMs();
        try {
          return own === undefined
            ? await runHook(name, hook, values, { interrupted: signal, dispatcher: through })
            : await runInProcess(name, own, values);
        } finally {
          const tookMs = nowMs() - calledMs;
          use.calls += 1;
          use.totalMs += tookMs;
          use.longestMs = Math.max(use.longestMs, tookMs);
        }
      };
      if (own !== undefined || !("http" in hook)) return run();
      const health = healths.of(new URL(hook.http.url.replaceAll(/\{\{\w+\}\}/g, "1")).origin);
      return sendWithRetries(retries, {
        health,
        isHarmless: harmless.has(name),
        send: async () => {
          const answer = await run(harmless.has(name) ? dispatcher : unkept);
          // In a load nothing else tells that the target is down rather than wrong.
          health.isThere();
          return answer;
        },
        setbackOf: (error) => (signal.aborted ? undefined : setbackOf(name, use, error)),
        onRepeat: () => void (use.madeAgain += 1),
      });
    },
    report: (): HookReport => ({
      hooks: [...uses.values()],
      elapsedMs: nowMs() - startedMs,
      outages: healths.outages(),
    }),
  };
};
