import { Agent } from "undici";
import { endpoints } from "../contract/forms.ts";
import type { Limits } from "../contract/limits.ts";
import { given } from "../contract/given.ts";
import { isObject } from "../contract/json.ts";
import { pathIn } from "../contract/text.ts";
import { allowedHere, connectionsWithin } from "../files/own-limits.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { wallClock, type ClockSource } from "../world/clock.ts";
import type { Answer, Request } from "../world/exchange.ts";
import { createDialer, keepingNone } from "../world/http/dialer.ts";
import { openFaketime, type FaketimeClock } from "../world/time/faketime.ts";
import { createHookCaller } from "../world/hooks/hook-caller.ts";
import type { Journal } from "../world/evidence/journal.ts";
import { createLeftBehind, type LeftBehindAccount } from "../world/left-behind.ts";
import { createRetries } from "../world/http/retry.ts";
import type { Pace } from "../world/http/pacer.ts";
import { clockSource } from "../world/time/clock-source.ts";
import { createTransport, type TransportOptions } from "../world/http/transport.ts";

interface ConnectionsOptions {
  readonly journal: Journal;
  readonly limits: Limits;
  readonly requestTimeoutMs: number;
  readonly maxWaitMs: number;
  readonly seed?: number;
  readonly pace?: Pace | undefined;
  /** Interrupts the run. */
  readonly signal: AbortSignal;
}

/** All connections to the target and its hooks, and what was left behind. */
export type Connections = ReturnType<typeof openConnections>;

/** Opens them; sends nothing yet. */
export const openConnections = (resolved: ResolvedProfile, options: ConnectionsOptions) => {
  const { profile } = resolved;
  const stop = new AbortController();
  const retries = createRetries({
    ...given({ seed: options.seed }),
    outageMs: profile.tolerances?.outageMs,
    signal: stop.signal,
  });
  const account = createLeftBehind({ limits: options.limits, estimate: () => estimateNow(clocks) });
  const dialer = createDialer(resolved.network);
  const common = { allowH2: false, connect: dialer.connector(options.requestTimeoutMs) };
  const dispatcher = new Agent(common);
  const unkept = new Agent({ ...common, ...keepingNone });
  const transportOptions = {
    ...transportOptionsOf(resolved, options),
    dialer,
    retries,
    onAnswer: account.onAnswer,
    toldMs: () => clocks.toldMs?.(),
  };
  const faketime = faketimeOf(profile);
  const transport = createTransport({ ...transportOptions, onAnswer: onAnswerOf(account, faketime) });
  const target = { origin: transportOptions.origin, health: transport.address.health };
  const calling = { signal: stop.signal, retries, inProcess: resolved.inProcessHooks };
  const hooks = createHookCaller({ ...calling, dispatcher, unkept, target });
  const counted = countingCalls(hooks.call);
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
    /** Calls a hook. Time stands still meanwhile, as while waiting for an answer. */
    callHook: counted.call,
    /** Aborted once the run is interrupted. */
    stopped: stop.signal,
    close: async (): Promise<void> => {
      stopWatching();
      faketime?.release();
      await Promise.all([dispatcher.destroy(), unkept.destroy()]);
      await transport.close();
    },
  };
};

const transportOptionsOf = (
  { profile, inProcessHooks }: ResolvedProfile,
  { journal, requestTimeoutMs, maxWaitMs, pace }: ConnectionsOptions,
): Omit<TransportOptions, "retries"> => {
  const { origin, pathname } = new URL(profile.baseUrl);
  return {
    origin,
    journal,
    timeoutMs: requestTimeoutMs,
    maxConnections: connectionsWithin(
      allowedHere(),
      profile.concurrency?.maxConnections,
      inProcessHooks === undefined ? "elsewhere" : "in this process",
    ),
    pace: {
      perSecond: pace?.perSecond ?? profile.concurrency?.requestsPerSecond,
      refusedPerMinute: pace?.refusedPerMinute ?? profile.concurrency?.refusedPerMinute,
    },
    maxWaitMs,
    probePath: `${pathname.replace(/\/+$/, "")}${endpoints.list.path}`,
  };
};

/** The same calls, with a count of those in progress. */
const countingCalls = <Given extends unknown[], T>(call: (...given: Given) => Promise<T>) => {
  let running = 0;
  return {
    running: () => running,
    call: async (...given: Given): Promise<T> => {
      running += 1;
      try {
        return await call(...given);
      } finally {
        running -= 1;
      }
    },
  };
};

const faketimeOf = ({ hooks }: ResolvedProfile["profile"]): FaketimeClock | undefined => {
  const file = hooks?.clock?.faketime?.file;
  return file === undefined ? undefined : openFaketime(file, { wallMs: () => wallClock().getTime() });
};

/** What sees every answer over a connection on which time does not move meanwhile. */
const onAnswerOf =
  ({ onAnswer }: LeftBehindAccount, faketime: FaketimeClock | undefined): TransportOptions["onAnswer"] =>
  (request, answer) => {
    onAnswer(request, answer);
    if (faketime !== undefined) noteTold(faketime, request, answer);
  };

/** Compares the timestamp of an answer, if it has one, with the file. */
const noteTold = (faketime: FaketimeClock, request: Request, { json }: Pick<Answer, "json">): void => {
  const timestamp = isObject(json) ? json["timestamp"] : undefined;
  if (typeof timestamp !== "number") return;
  const path = pathIn(request.path);
  const operation = Object.entries(endpoints).find(([, endpoint]) => path.endsWith(endpoint.path))?.[0];
  if (operation !== undefined) faketime.told(timestamp, operation);
};

/** Calls back once the signal is aborted, at once if it already is; returns how to stop listening. */
const onceAborted = (signal: AbortSignal, callback: () => void): (() => void) => {
  signal.addEventListener("abort", callback, { once: true });
  if (signal.aborted) callback();
  return () => signal.removeEventListener("abort", callback);
};

/** The target's time as far as known without asking. */
const estimateNow = (clocks: ClockSource): ReturnType<NonNullable<ClockSource["estimate"]>> =>
  clocks.kind === "real" ? { nowMs: wallClock().getTime(), isDate: true } : clocks.estimate?.();
