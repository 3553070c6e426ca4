import { concealResolved, type ResolvedProfile } from "../profile/profile.ts";
import type { LeftBehind } from "../contract/left-behind.ts";
import { documentLimits, type Limits, type Tolerances } from "../contract/limits.ts";
import type { PushLine } from "../contract/push.ts";
import { canonicalJson } from "../contract/verdict.ts";
import { createSecrets, type Secrets } from "../contract/secrets.ts";
import { toldId } from "../contract/placeholders.ts";
import { tolerances as defaults } from "../judging/tolerances.ts";
import { ledgerTarget, type LedgerAccess, type LedgerSession } from "../lifetimes/ledger.ts";
import { realClock, type ClockSource } from "../world/clock.ts";
import { type Events, createEvents } from "../world/hooks/events.ts";
import { createJournal, type JournalSink } from "../world/evidence/journal.ts";
import type { Pace } from "../world/http/pacer.ts";
import { openReceiver, type Receiver, type ReceiverAccess } from "../world/receiver.ts";
import { openConnections, type Connections } from "./connections.ts";
import { maskedLine } from "../world/evidence/learn.ts";
import { worldsOf } from "./worlds.ts";
import { HookError, runHook } from "../world/hooks/hooks.ts";
import type { Dispatcher } from "undici";
import { given } from "../contract/given.ts";
import type { FetchedProfile } from "../contract/profile-fetched.ts";
import type { LeftBehindAccount } from "../world/left-behind.ts";
import { errorMessage } from "../contract/text.ts";

/** Creates notifications through the profile's hook, and keeps track of them; undefined if it has none. */
const eventsOf = (
  resolved: ResolvedProfile,
  freshUuid: () => string,
  { callHook, account }: Pick<Connections, "callHook" | "account">,
): Events | undefined => {
  const trigger = resolved.profile.hooks?.events?.trigger;
  if (trigger === undefined) return undefined;
  return createEvents({
    accounts: resolved.profile.accounts,
    idsAreNamed: trigger.result !== undefined,
    freshUuid,
    runHook: async (values) => {
      const answer = await callHook("events.trigger", trigger, { ...values }).catch((error: unknown) => {
        if (mayHaveBeenObeyed(error)) account.maybeCreated();
        throw error;
      });
      const id = toldId(answer, trigger.result);
      account.created(values.accountId, id);
      return id;
    },
    clientId: resolved.clients[0]?.id ?? "",
  });
};

/** Whether a failed call may have taken effect: one whose answer is lost may have, one that was not accepted has not. */
const mayHaveBeenObeyed = (error: unknown): boolean =>
  error instanceof HookError && error.end?.kind === "lost" && error.end.reason !== "refused";

export interface SessionOptions {
  /** The longest single wait if the target's time cannot be advanced, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** How fast the target may be asked; the profile's pace if absent. */
  readonly pace?: Pace | undefined;
  /** Returns a new UUID at each call; keeps accounts and states of different runs apart. */
  readonly freshUuid: () => string;
  readonly sink?: JournalSink;
  /** Knows what must be masked, shared with code that prints beside the run; default: a new one. */
  readonly secrets?: Secrets | undefined;
  /** Seed for the jitter of retries; default 0. */
  readonly seed?: number;
  /** Where credentials are kept for later runs to judge. */
  readonly ledger?: LedgerAccess | undefined;
  /** Where pushes are received, if a rule needs any. */
  readonly receiver?: ReceiverAccess | undefined;
  /** Ends calls of the receiver; by default an interruption does. */
  readonly receiverEnds?: AbortSignal | undefined;
}

/** One run's connection to a target: transport, clocks, hooks and secrets, from which each case gets its world. */
export type Session = ReturnType<typeof openSession>;

export const limitsOf = ({ profile }: ResolvedProfile): Limits => ({ ...documentLimits, ...profile.limits });

/** Names of the limits that the profile sets to another value than the document's. */
export const replacedLimits = ({ profile }: ResolvedProfile): readonly string[] =>
  Object.entries(profile.limits ?? {}).flatMap(([name, value]) =>
    canonicalJson(value) === canonicalJson(documentLimits[name as keyof typeof documentLimits]) ? [] : [name],
  );

/** Opens a session; sends nothing yet. */
export const openSession = (resolved: ResolvedProfile, options: SessionOptions) => {
  const { profile } = resolved;
  const { freshUuid, signal, receiver, sink, secrets = createSecrets() } = options;
  concealResolved(secrets, resolved);
  if (receiver?.token !== undefined) secrets.conceal(receiver.token, "receiver token");
  const journal = createJournal(secrets, sink, () => clocks.toldMs?.());
  const limits = limitsOf(resolved);
  const requestTimeoutMs = profile.tolerances?.requestTimeoutMs ?? defaults.requestTimeout.default;
  const connections = openConnections(resolved, { ...options, journal, limits, requestTimeoutMs });
  const { account, clocks, dispatcher } = connections;
  const pushReceiver = receiverOf(options, connections);
  const common = {
    limits,
    tolerances: tolerancesOf(resolved, clocks.kind, requestTimeoutMs),
    /** Creates notifications; undefined if the profile has no hook for it. */
    events: eventsOf(resolved, freshUuid, connections),
    secrets,
  };
  return {
    ...common,
    resolved,
    clocks,
    /** The clock by which pushes are judged. */
    pushClocks:
      profile.hooks?.clock?.pushes === undefined ? clocks : realClock(options.maxWaitMs, connections.stopped),
    freshUuid,
    signal,
    maxWaitMs: options.maxWaitMs,
    transport: connections.transport,
    /** Retries of lost requests, sharing the run's budget. */
    retries: connections.retries,
    /** Credentials judged in a later run; undefined if this run has no ledger. */
    ledger: ledgerOf(resolved, options),
    /** The receiver of pushes; undefined if this run has none. */
    receiver: pushReceiver,
    /** The return code that the service expects from a receiver. */
    acknowledgedStatus: profile.acknowledgement?.status ?? 200,
    registerCallback: registerCallbackOf(resolved, connections),
    /** What happened to calls of hooks. */
    hookReport: connections.hookReport,
    /**
     * Restores and removes what the profile's hooks can, and reports what remains on the target. Never fails: problems
     * are part of the report. Also runs after an interruption.
     */
    cleanUp: (): Promise<LeftBehind> =>
      cleanUp(account, profile.hooks, {
        dispatcher,
        mask: secrets.mask,
        isAttached: resolved.receiver?.kind === "attach",
      }),
    /** Records a line of the receiver's journal. */
    notePush: (line: PushLine): void => sink?.push?.(maskedLine(line, secrets.mask)),
    close: closing(pushReceiver, connections),
    world: worldsOf({ ...common, resolved, connections, journal, unique: uniqueStrings(freshUuid) }),
  };
};

const closing = (receiver: Receiver | undefined, connections: Connections) => async (): Promise<void> => {
  await receiver?.leave();
  await connections.close();
};

const receiverOf = (
  { receiver, receiverEnds, freshUuid }: SessionOptions,
  { stopped, dispatcher }: Connections,
): Receiver | undefined =>
  receiver && openReceiver({ ...receiver, run: freshUuid() }, receiverEnds ?? stopped, dispatcher);

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

/** Tells the service where to push; undefined if the profile has no hook for it. */
const registerCallbackOf = ({ profile }: ResolvedProfile, { account, callHook }: Connections) => {
  const register = profile.hooks?.callback?.register;
  if (register === undefined) return undefined;
  return async (url: string, ca: string): Promise<void> => {
    // Before the call: if its answer is lost, the service may have obeyed.
    account.registered(url);
    await callHook("callback.register", register, { url, ca });
  };
};

/** Strings of letters and digits that are unique across runs. */
const uniqueStrings = (freshUuid: () => string): (() => string) => {
  const prefix = freshUuid().replaceAll("-", "").slice(0, 10);
  let count = 0;
  return () => `${prefix}${(count += 1).toString(36)}`;
};

interface CleanUpOptions {
  readonly dispatcher: Dispatcher;
  /** Masks secrets in a hook's messages. */
  readonly mask: (text: string) => string;
  /** Whether pushes went to a receiver that outlives the run. */
  readonly isAttached: boolean;
}

/**
 * Restores the service's former callback address and runs the profile's clean-up hook, if there are hooks for them, and
 * reports what remains. Has its own deadline, within the hooks' timeouts, so that an interrupted run is cleaned up too.
 */
const cleanUp = async (
  account: LeftBehindAccount,
  hooks: FetchedProfile["hooks"],
  { dispatcher, mask, isAttached }: CleanUpOptions,
): Promise<LeftBehind> => {
  const outcomeOf = async (running: Promise<unknown>) => {
    try {
      await running;
      return { ok: true };
    } catch (error) {
      return { ok: false, problem: mask(errorMessage(error)) };
    }
  };
  const url = account.callbackUrl();
  const { restore } = hooks?.callback ?? {};
  const callback =
    url === undefined
      ? undefined
      : {
          url: mask(url),
          isAttached,
          ...(restore !== undefined && {
            restore: await outcomeOf(runHook("callback.restore", restore, { url }, { dispatcher })),
          }),
        };
  const left: LeftBehind = { ...account.report(), ...given({ callback }) };
  const hook = hooks?.cleanup;
  const { codes, accessTokens, refreshTokens, notifications } = left;
  const made = [codes, accessTokens, refreshTokens].some(({ issued }) => issued > 0);
  if (hook === undefined || !(made || notifications.created > 0 || url !== undefined)) return left;
  const input = { ...left, ...account.ids() };
  return { ...left, cleanup: await outcomeOf(runHook("cleanup", hook, {}, { dispatcher, input })) };
};
