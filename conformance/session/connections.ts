import { Agent, type Dispatcher } from "undici";
import { endpoints } from "../contract/forms.ts";
import type { Limits } from "../contract/limits.ts";
import type { HookDefinition } from "../contract/profile-fetched.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { wallClock, type ClockSource } from "../world/clock.ts";
import { createDialer } from "../world/http/dialer.ts";
import { openFaketime, type FaketimeClock } from "../world/time/faketime.ts";
import { brieflyKept as keptBriefly, createHookCaller, type HookCaller } from "../world/hooks/hook-caller.ts";
import type { HookAnswer } from "../world/hooks/hooks.ts";
import type { Journal } from "../world/evidence/journal.ts";
import { createLeftBehind, type EstimatedNow, type LeftBehindAccount } from "../world/left-behind.ts";
import { createRetries, type Retries } from "../world/http/retry.ts";
import { clockSource } from "../world/time/clock-source.ts";
import { createTransport, type Transport, type TransportOptions } from "../world/http/transport.ts";

/** More than are used at a time, except for targets so far away that most of them just wait. */
const MAX_CONNECTIONS = 64;

export interface ConnectionsOptions {
  readonly journal: Journal;
  readonly limits: Limits;
  readonly requestTimeoutMs: number;
  readonly maxWaitMs: number;
  readonly seed: number;
  /** Interrupts the run. */
  readonly signal: AbortSignal;
}

/** All connections to the target and its hooks, and what was left behind. */
export interface Connections {
  readonly transport: Transport;
  readonly transportOptions: TransportOptions;
  readonly retries: Retries;
  readonly clocks: ClockSource;
  readonly dispatcher: Dispatcher;
  readonly account: LeftBehindAccount;
  readonly hookReport: HookCaller["report"];
  /** Calls a hook. Time stands still meanwhile, as while waiting for an answer. */
  readonly callHook: (
    name: string,
    hook: HookDefinition,
    values: Readonly<Record<string, string | number>>,
  ) => Promise<HookAnswer>;
  /** Aborted once the run is interrupted. */
  readonly stopped: AbortSignal;
  close(): Promise<void>;
}

/** Opens them; sends nothing yet. */
export const openConnections = (resolved: ResolvedProfile, options: ConnectionsOptions): Connections => {
  const { profile } = resolved;
  const stop = new AbortController();
  const retries = createRetries({
    seed: options.seed,
    outageMs: profile.tolerances?.outageMs,
    signal: stop.signal,
  });
  const account = createLeftBehind({ limits: options.limits, estimate: () => estimateNow(clocks) });
  const { dispatcher, brieflyKept, transportOptions } = wayToTarget(resolved, options, { retries, account });
  const transport = createTransport(transportOptions);
  const target = { origin: transportOptions.origin, health: transport.address.health };
  const hooks = createHookCaller({ signal: stop.signal, dispatcher, brieflyKept, target, retries });
  const counted = countingCalls(hooks.call);
  const faketime = faketimeOf(profile);
  const clocks = clockSource({
    now: profile.hooks?.clock?.now,
    advance: profile.hooks?.clock?.advance,
    faketime,
    inFlight: () => transport.inFlight() + counted.running(),
    maxWaitMs: options.maxWaitMs,
    signal: stop.signal,
    call: hooks.call,
  });
  // An interrupted run does not wait for answers that may never come.
  const stopWatching = onceAborted(options.signal, () => {
    stop.abort();
    void transport.close();
  });
  return {
    transport,
    transportOptions,
    retries,
    clocks,
    dispatcher,
    account,
    hookReport: hooks.report,
    callHook: counted.call,
    stopped: stop.signal,
    close: async () => {
      stopWatching();
      faketime?.release();
      await Promise.all([dispatcher.destroy(), brieflyKept.destroy()]);
      await transport.close();
    },
  };
};

const wayToTarget = (
  { profile, network = {} }: ResolvedProfile,
  options: ConnectionsOptions,
  { retries, account }: Pick<Connections, "retries" | "account">,
): Pick<Connections, "dispatcher" | "transportOptions"> & { readonly brieflyKept: Dispatcher } => {
  const dialer = createDialer(network);
  const { origin, pathname } = new URL(profile.baseUrl);
  const common = { allowH2: false, connect: dialer.connector(options.requestTimeoutMs) };
  return {
    dispatcher: new Agent(common),
    brieflyKept: new Agent({ ...common, ...keptBriefly }),
    transportOptions: {
      origin,
      dialer,
      journal: options.journal,
      timeoutMs: options.requestTimeoutMs,
      maxConnections: profile.concurrency?.maxConnections ?? MAX_CONNECTIONS,
      probePath: `${pathname.replace(/\/+$/, "")}${endpoints.list.path}`,
      retries,
      onAnswer: account.onAnswer,
    },
  };
};

/** The same calls, with a count of those in progress. */
const countingCalls = (call: Connections["callHook"]) => {
  let running = 0;
  return {
    running: () => running,
    call: (async (name, hook, values) => {
      running += 1;
      try {
        return await call(name, hook, values);
      } finally {
        running -= 1;
      }
    }) satisfies Connections["callHook"],
  };
};

const faketimeOf = ({ hooks }: ResolvedProfile["profile"]): FaketimeClock | undefined => {
  const file = hooks?.clock?.faketime?.file;
  return file === undefined ? undefined : openFaketime(file, { wallMs: () => wallClock().getTime() });
};

/** Calls back once the signal is aborted, at once if it already is; returns how to stop listening. */
const onceAborted = (signal: AbortSignal, callback: () => void): (() => void) => {
  signal.addEventListener("abort", callback, { once: true });
  if (signal.aborted) callback();
  return () => signal.removeEventListener("abort", callback);
};

/** The target's time as far as known without asking. */
const estimateNow = (clocks: ClockSource): EstimatedNow | undefined =>
  clocks.kind === "real" ? { nowMs: wallClock().getTime(), isDate: true } : clocks.estimate?.();
