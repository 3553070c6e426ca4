import { concealResolved, type ResolvedProfile } from "../profile/profile.ts";
import type { LeftBehind } from "../contract/left-behind.ts";
import { documentLimits, type Limits } from "../contract/limits.ts";
import type { PushLine } from "../contract/push.ts";
import { createSecrets, type Secrets } from "../contract/secrets.ts";
import { tolerances as defaults } from "../judging/tolerances.ts";
import { ledgerTarget, type LedgerAccess, type LedgerSession } from "../lifetimes/deferred/session.ts";
import type { Clock, ClockSource } from "../world/clock.ts";
import type { Checkpoint } from "../world/durable-steps.ts";
import { type Events, createEvents } from "../world/hooks/events.ts";
import type { HookReport } from "../world/hooks/hook-caller.ts";
import { createJournal, type JournalSink, type Scope } from "../world/evidence/journal.ts";
import { openReceiver, type Receiver, type ReceiverAccess } from "../world/receiver.ts";
import type { Retries } from "../world/http/retry.ts";
import type { Transport } from "../world/http/transport.ts";
import type { Tolerances } from "../world/tolerances.ts";
import type { World, Prepared } from "../world/world.ts";
import type { ClientIndex } from "../checks/client-assignment.ts";
import { cleanUp } from "./clean-up.ts";
import { openConnections, type Connections } from "./connections.ts";
import { maskedLine } from "./learn.ts";
import { worldsOf } from "./worlds.ts";
import { HookError, resultOf } from "../world/hooks/hooks.ts";

/** Creates notifications through the profile's hook, and keeps account of them; undefined where it has none. */
const eventsOf = (
  resolved: ResolvedProfile,
  freshUuid: () => string,
  { callHook, account }: Pick<Connections, "callHook" | "account">,
): Events | undefined => {
  const trigger = resolved.profile.hooks?.events?.trigger;
  if (trigger === undefined) return undefined;
  return createEvents({
    accounts: resolved.profile.accounts,
    freshUuid,
    runHook: async (values) => {
      const answer = await callHook("events.trigger", trigger, { ...values }).catch((error: unknown) => {
        if (mayHaveBeenObeyed(error)) account.maybeCreated();
        throw error;
      });
      const told = resultOf(answer, trigger.result, ["/id", "/notificationId", "/data/id"]);
      const id = typeof told === "string" && told !== "" ? told : undefined;
      account.created(values.accountId, id);
      return id;
    },
    clientId: resolved.clients[0]?.id ?? "",
  });
};

/** A call whose answer is lost may have done its work all the same; one that was not accepted has not. */
const mayHaveBeenObeyed = (error: unknown): boolean =>
  error instanceof HookError && error.end?.kind === "lost" && error.end.reason !== "refused";

export interface SessionOptions {
  /** The longest single wait where the target's time cannot be advanced, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Gives a new UUID at each call; keeps accounts and states of several runs apart. */
  readonly freshUuid: () => string;
  readonly sink?: JournalSink;
  /** Knows what may not be shown, for code that prints beside the run; default: a new one. */
  readonly secrets?: Secrets | undefined;
  /** Seed for the jitter of retries; default 0. */
  readonly seed?: number;
  /** Where credentials are kept that later runs judge. */
  readonly ledger?: LedgerAccess | undefined;
  /** What cases have done before they wait, for a run that may have to continue this one. */
  readonly checkpoint?: Checkpoint | undefined;
  /** Where pushes are received, where a rule needs any. */
  readonly receiver?: ReceiverAccess | undefined;
}

/** One run's connection to a target: transport, clocks, hooks and secrets, from which each case gets its world. */
export interface Session {
  readonly resolved: ResolvedProfile;
  readonly limits: Limits;
  readonly tolerances: Tolerances;
  readonly clocks: ClockSource;
  readonly transport: Transport;
  /** How what is lost is tried again, with the run's one budget. */
  readonly retries: Retries;
  readonly secrets: Secrets;
  readonly events: Events | undefined;
  /** Credentials that are judged in a later run; undefined where this run has no ledger. */
  readonly ledger: LedgerSession | undefined;
  /** The receiver of pushes; undefined where this run has none. */
  readonly receiver: Receiver | undefined;
  /** The return code that the service expects of a receiver. */
  readonly acknowledgedStatus: number;
  /** Tells the service where its pushes are to go; undefined where the profile has no hook for it. */
  readonly registerCallback: ((url: string, ca: string) => Promise<void>) | undefined;
  /** What hooks met on their way. */
  readonly hookReport: () => HookReport;
  /**
   * Puts back and removes what the profile's hooks can, and says what stays on the target. Never fails: what went wrong
   * is part of the answer. An interrupted run is cleaned up after as well.
   */
  readonly cleanUp: () => Promise<LeftBehind>;
  /** Keeps a line of the receiver's journal with the run. */
  readonly notePush: (line: PushLine) => void;
  readonly freshUuid: () => string;
  readonly signal: AbortSignal;
  /** A world of one case. In turn 1 the run's two clients change places. */
  world(scope: Scope, clock: Clock, prepared: Prepared, clientIndex?: ClientIndex): World;
  close(): Promise<void>;
}

export const limitsOf = ({ profile }: ResolvedProfile): Limits => ({ ...documentLimits, ...profile.limits });

/** Opens a session; nothing is sent yet. */
export const openSession = (resolved: ResolvedProfile, options: SessionOptions): Session => {
  const { profile } = resolved;
  const secrets = options.secrets ?? createSecrets();
  concealResolved(secrets, resolved);
  if (options.receiver?.token !== undefined) secrets.conceal(options.receiver.token, "receiver token");
  const journal = createJournal(secrets, options.sink);
  const limits = limitsOf(resolved);
  const requestTimeoutMs = profile.tolerances?.requestTimeoutMs ?? defaults.requestTimeout.default;
  const connections = openConnections(resolved, {
    secrets,
    journal,
    limits,
    requestTimeoutMs,
    maxWaitMs: options.maxWaitMs,
    seed: options.seed ?? 0,
    signal: options.signal,
  });
  const { account, clocks, dispatcher } = connections;
  const common = {
    limits,
    tolerances: tolerancesOf(resolved, clocks.kind, requestTimeoutMs),
    events: eventsOf(resolved, options.freshUuid, connections),
    secrets,
  };
  return {
    ...common,
    resolved,
    clocks,
    transport: connections.transport,
    retries: connections.retries,
    ledger: ledgerOf(resolved, options),
    receiver:
      options.receiver === undefined
        ? undefined
        : openReceiver(options.receiver, connections.stopped, dispatcher),
    acknowledgedStatus: profile.acknowledgement?.status ?? 200,
    registerCallback: registerCallbackOf(resolved, connections),
    hookReport: connections.hookReport,
    cleanUp: () =>
      cleanUp(account, profile.hooks, {
        dispatcher,
        mask: secrets.mask,
        isAttached: resolved.receiver?.kind === "attach",
      }),
    notePush: (line) => options.sink?.push?.(maskedLine(line, secrets.mask)),
    freshUuid: options.freshUuid,
    signal: options.signal,
    close: () => connections.close(),
    world: worldsOf({
      ...common,
      resolved,
      connections,
      journal,
      unique: uniqueStrings(options.freshUuid),
      checkpoint: options.checkpoint,
    }),
  };
};

const tolerancesOf = (
  { profile: { tolerances } }: ResolvedProfile,
  clock: ClockSource["kind"],
  requestTimeoutMs: number,
): Tolerances => ({
  lifetimeGuardMs: tolerances?.lifetimeGuardMs ?? defaults.lifetimeGuard.default({ clock }),
  lifetimeResolutionMs: tolerances?.lifetimeResolutionMs,
  visibilityMs: tolerances?.visibilityMs ?? defaults.visibility.default,
  visibilityRealMs: tolerances?.visibilityMs ?? defaults.visibilityInRealTime.default,
  requestTimeoutMs,
});

const ledgerOf = (
  { profile, clients }: ResolvedProfile,
  { ledger, maxWaitMs }: SessionOptions,
): LedgerSession | undefined =>
  ledger === undefined
    ? undefined
    : { ...ledger, target: ledgerTarget(profile.baseUrl, clients[0]?.id ?? ""), maxWaitMs };

const registerCallbackOf = (
  { profile }: ResolvedProfile,
  { account, callHook }: Connections,
): Session["registerCallback"] => {
  const register = profile.hooks?.callback?.register;
  if (register === undefined) return undefined;
  return async (url, ca) => {
    // Before it is called: where its answer is lost, the service may have obeyed.
    account.registered(url);
    await callHook("callback.register", register, { url, ca });
  };
};

/** Strings of letters and digits, no two of which are the same in this run or another. */
const uniqueStrings = (freshUuid: () => string): (() => string) => {
  const prefix = freshUuid().replaceAll("-", "").slice(0, 10);
  let count = 0;
  return () => `${prefix}${(count += 1).toString(36)}`;
};
