import { Agent } from "undici";
import { grantOf } from "./answers.ts";
import { awaitedOf, type Awaited } from "./awaited/store.ts";
import { concealResolved } from "./known-secrets.ts";
import type { LeftBehind } from "./contract/left-behind.ts";
import { documentLimits, type Limits } from "./contract/limits.ts";
import { paths } from "./contract/messages.ts";
import type { HookDefinition } from "./contract/profile-fetched.ts";
import type { Campaign, SeenPush } from "./campaign/data.ts";
import { exhibited } from "./campaign/exhibit.ts";
import type { PushLine } from "./contract/push.ts";
import type { ResolvedProfile } from "./profile.ts";
import type { LedgerSession } from "./ledger/depositable.ts";
import { credentialsIn } from "./ledger/secrets.ts";
import { ledgerSession, type LedgerAccess } from "./ledger/session.ts";
import { monotonicMs, wallClock, type Clock, type ClockSource } from "./world/clock.ts";
import type { NotificationSets } from "./world/dataset.ts";
import { createEvents, type Events } from "./world/events.ts";
import { grantByHook } from "./world/grant.ts";
import { cleanUp } from "./clean-up.ts";
import { createHookCaller, type HookReport } from "./world/hook-caller.ts";
import { HookError, resultOf, type HookAnswer } from "./world/hooks.ts";
import { createLeftBehind, type EstimatedNow, type LeftBehindAccount } from "./world/left-behind.ts";
import { createJournal, type JournalSink, type Scope } from "./world/journal.ts";
import { createDialer } from "./world/dialer.ts";
import { randomOf } from "./world/road.ts";
import { openReceiver, type Receiver, type ReceiverAccess } from "./world/receiver.ts";
import { createRawTarget } from "./world/raw.ts";
import { createSecrets, type Secrets } from "./world/secrets.ts";
import { createTarget, encodeQuery } from "./world/target.ts";
import { clockSource } from "./world/time.ts";
import { createTransport, type Transport, type TransportOptions } from "./world/transport.ts";
import type { Tolerances, World } from "./world/world.ts";
import type { Turn } from "./turns.ts";

export interface SessionOptions {
  /** The longest single wait where the target's time cannot be advanced, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Gives a new UUID at each call; keeps accounts and states of several runs apart. */
  readonly freshUuid: () => string;
  readonly sink?: JournalSink;
  /** Knows what may not be shown, for whoever prints beside the run; one of its own where left out. */
  readonly secrets?: Secrets | undefined;
  /** Where the jitter of what is tried again comes from; 0 where left out. */
  readonly seed?: number;
  /** Where credentials are kept that later runs judge. */
  readonly ledger?: LedgerAccess | undefined;
  /** What cases are waiting with, for a run that may have to continue this one. */
  readonly awaited?: Awaited | undefined;
  /** Where pushes are received, where a rule needs any. */
  readonly receiver?: ReceiverAccess | undefined;
}

/** What the preflight found out, and all worlds then hold. */
export interface Prepared {
  readonly notifications: NotificationSets;
  readonly accessLifetimeMs: number;
  /** Whether most of what a request takes is the road's. */
  readonly isFar?: boolean;
  /** How long a push took in real time from its event to the receiver; undefined where none was seen. */
  readonly pushLagMs?: number;
  /** Why the service cannot reach the receiver, where that is for the configuration to mend. */
  readonly unreachableReceiver?: string;
  /** All that the pushes of this run came to; only rules that need them are given it. */
  readonly campaign?: Campaign;
}

/** One run's connection to a target: transport, clocks, hooks and secrets, from which each case gets its world. */
export interface Session {
  readonly resolved: ResolvedProfile;
  readonly limits: Limits;
  readonly tolerances: Tolerances;
  readonly clocks: ClockSource;
  readonly transport: Transport;
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
  world(scope: Scope, clock: Clock, prepared: Prepared, turn?: Turn): World;
  close(): Promise<void>;
}

/** More than are used at a time, but for targets so far away that most of them would only be waited for. */
const MAX_CONNECTIONS = 64;

/**
 * How long a service whose clock can be moved may take in real time to list what is new, where the profile says
 * nothing: an index in the background is no breach, and who loses notifications is asked for so long once.
 */
const VISIBILITY_REAL_MS = 2_000;

/** Distance from a lifetime's end that a probe keeps, by kind of clock, in milliseconds. */
const guardMs = { virtual: 500, real: 1_500 } as const;

export const emptyPrepared: Prepared = {
  notifications: { accounts: [], emptyAccountId: "00000000-0000-4000-8000-000000000000" },
  accessLifetimeMs: 0,
};

/** The document's limits with what the profile replaces. */
export const limitsOf = ({ profile }: ResolvedProfile): Limits => ({ ...documentLimits, ...profile.limits });

/** Opens a session; nothing is sent yet. */
export const openSession = (resolved: ResolvedProfile, options: SessionOptions): Session => {
  const { profile, clients } = resolved;
  const [client, secondClient] = clients;
  if (client === undefined) throw new Error("a resolved profile has at least one client");
  const secrets = options.secrets ?? createSecrets();
  concealResolved(secrets, resolved);
  if (options.receiver?.token !== undefined) secrets.conceal(options.receiver.token, "receiver token");
  const journal = createJournal(secrets, options.sink);
  const base = new URL(profile.baseUrl);
  const basePath = base.pathname.replace(/\/+$/, "");
  const requestTimeoutMs = profile.tolerances?.requestTimeoutMs ?? 10_000;
  const headers = Object.entries(profile.headers ?? {});
  const authorize = {
    headers: Object.entries(profile.authorize?.headers ?? {}),
    query: encodeQuery(profile.authorize?.query ?? {}),
  };
  const startedAtMs = monotonicMs();
  const limits = limitsOf(resolved);
  const account = createLeftBehind({ limits, estimate: () => estimateNow(clocks) });
  const outageBudgetMs = profile.tolerances?.outageMs;
  const stop = new AbortController();
  let hooksRunning = 0;
  const settings = resolved.network ?? {};
  const dialer = Object.keys(settings).length === 0 ? undefined : createDialer(settings);
  const dispatcher =
    dialer === undefined
      ? undefined
      : new Agent({ allowH2: false, connect: dialer.connector(requestTimeoutMs) });
  const transportOptions: TransportOptions = {
    origin: base.origin,
    dialer,
    journal,
    timeoutMs: requestTimeoutMs,
    startedAtMs,
    maxConnections: profile.concurrency?.maxConnections ?? MAX_CONNECTIONS,
    outageBudgetMs,
    knockPath: `${basePath}${paths.notifications}`,
    random: randomOf(options.seed ?? 0),
    signal: stop.signal,
    learn: (answer) => learn(secrets, answer),
    onAnswer: account.onAnswer,
  };
  const transport = createTransport(transportOptions);
  const hooks = createHookCaller({
    signal: stop.signal,
    dispatcher,
    target: { origin: base.origin, road: transport.road },
    random: randomOf((options.seed ?? 0) + 1),
    outageBudgetMs,
  });
  const clocks = clockSource({
    now: profile.hooks?.clock?.now,
    advance: profile.hooks?.clock?.advance,
    inFlight: () => transport.inFlight() + hooksRunning,
    maxWaitMs: options.maxWaitMs,
    signal: stop.signal,
    call: hooks.call,
  });
  const tolerances: Tolerances = {
    lifetimeGuardMs: profile.tolerances?.lifetimeGuardMs ?? guardMs[clocks.kind],
    visibilityMs: profile.tolerances?.visibilityMs ?? 30_000,
    visibilityRealMs: profile.tolerances?.visibilityMs ?? VISIBILITY_REAL_MS,
    requestTimeoutMs,
  };
  // An interrupted run does not wait for answers that may never come.
  const interrupt = (): void => {
    stop.abort();
    void transport.close();
  };
  options.signal.addEventListener("abort", interrupt, { once: true });
  if (options.signal.aborted) interrupt();
  const callHook = async (
    name: string,
    hook: HookDefinition,
    values: Readonly<Record<string, string | number>>,
  ) => {
    // Time stands still for whoever waits for a hook, as for whoever waits for an answer.
    hooksRunning += 1;
    try {
      return await hooks.call(name, hook, values);
    } finally {
      hooksRunning -= 1;
    }
  };
  const events = eventsOf(
    resolved,
    options.freshUuid,
    (hook, values) => callHook("events.trigger", hook, values),
    account,
  );
  const register = profile.hooks?.callback?.register;
  const grantHook = profile.authorize?.code;
  const prefix = options.freshUuid().replaceAll("-", "").slice(0, 10);
  let uniques = 0;
  const unique = (): string => `${prefix}${(uniques += 1).toString(36)}`;
  return {
    resolved,
    limits,
    tolerances,
    clocks,
    transport,
    secrets,
    events,
    ledger:
      options.ledger === undefined
        ? undefined
        : ledgerSession(
            options.ledger,
            { baseUrl: profile.baseUrl, clientId: client.id },
            (secret) => {
              for (const [value, kind] of credentialsIn(secret)) secrets.conceal(value, kind);
            },
            options.maxWaitMs,
          ),
    receiver:
      options.receiver === undefined ? undefined : openReceiver(options.receiver, stop.signal, dispatcher),
    acknowledgedStatus: profile.acknowledgement?.status ?? 200,
    registerCallback:
      register === undefined
        ? undefined
        : async (url, ca) => {
            // Before it is called: where its answer is lost, the service may have obeyed.
            account.registered(url);
            await callHook("callback.register", register, { url, ca });
          },
    hookReport: hooks.report,
    cleanUp: () =>
      cleanUp(account, profile.hooks, {
        dispatcher,
        mask: secrets.mask,
        isAttached: resolved.receiver?.kind === "attach",
      }),
    notePush: (line) => options.sink?.push?.(maskedLine(line, secrets.mask)),
    freshUuid: options.freshUuid,
    signal: options.signal,
    close: async () => {
      options.signal.removeEventListener("abort", interrupt);
      await dispatcher?.destroy();
      await transport.close();
    },
    world: (scope, clock, prepared, turn = 0) => {
      const [own, other] =
        turn === 1 && secondClient !== undefined ? [secondClient, client] : [client, secondClient];
      const addressed = { basePath, headers, authorize };
      return {
        ...prepared,
        campaign: prepared.campaign,
        isFar: prepared.isFar === true,
        exhibit: (pushes: readonly SeenPush[]) => {
          for (const push of pushes) journal.add(scope, exhibited(journal.nextNumber(), push));
        },
        limits,
        tolerances,
        client: own,
        secondClient: other,
        clock,
        events,
        secrets,
        ledgerNowMs: options.ledger?.hereMs,
        // Where time can be moved nothing is waited for that would be worth keeping.
        awaited:
          options.awaited === undefined || clocks.kind === "virtual"
            ? undefined
            : awaitedOf(options.awaited, scope.rule),
        unique,
        target: createTarget(
          transport,
          { scope, clock },
          {
            ...addressed,
            client: own,
            freshState: unique,
            grantCode:
              grantHook === undefined
                ? undefined
                : (asked) =>
                    grantByHook(grantHook, asked, {
                      run: (values) => callHook("authorize.code", grantHook, values),
                      journal,
                      scope,
                      startedAtMs,
                      learn: (answer) => learn(secrets, answer),
                    }).then((answer) => {
                      account.issuedCode(grantOf(answer)?.code ?? "");
                      return answer;
                    }),
          },
        ),
        raw: createRawTarget({ ...transportOptions, ...addressed, transport, scope, clock }),
        accountFor: (exchange) => scope.losses.accountFor(exchange),
        whenItStands: (takeDown) => void scope.findings.push(takeDown),
      };
    },
  };
};

/** A line of the receiver's journal as it may leave the process: what it quotes of a request may hold what is secret. */
const maskedLine = (line: PushLine, mask: Secrets["mask"]): PushLine => {
  if (line.kind === "fault") return { ...line, message: mask(line.message) };
  if (line.kind !== "push") return line;
  const headers = line.headers.map(([name, value]) => [name, mask(value)] as const);
  return { ...line, path: mask(line.path), headers, body: mask(line.body) };
};

/** Remembers the credentials in an answer, so that they are masked wherever they turn up. */
const learn = (secrets: Secrets, answer: Parameters<TransportOptions["learn"]>[0]): void => {
  for (const [name, value] of answer.headers)
    if (name === "set-cookie") secrets.conceal(/^[^=;]*=([^;]*)/.exec(value)?.[1] ?? "", "cookie");
  if (typeof answer.json === "object" && answer.json !== null) {
    const { code, state, accessToken, refreshToken } = answer.json as Record<string, unknown>;
    if (typeof code === "string" && (typeof state === "string" || !namesAnError(code)))
      secrets.conceal(code, "code");
    if (typeof accessToken === "string") secrets.conceal(accessToken, "access token");
    if (typeof refreshToken === "string") secrets.conceal(refreshToken, "refresh token");
  }
  const text = textOf(answer.json);
  const isGrant = quotedState.test(text);
  for (const [, name = "", value = ""] of text.matchAll(quotedCredential))
    if (name !== "code" || isGrant || !namesAnError(value))
      secrets.conceal(
        value,
        name === "code" ? "code" : name === "accessToken" ? "access token" : "refresh token",
      );
  const location = answer.headers.find(([name]) => name === "location");
  if (location === undefined) return;
  const grant = grantOf({ exchange: 0, status: 302, headers: [location], text: "", json: undefined });
  if (grant !== undefined) secrets.conceal(grant.code, "code");
};

/** A credential that an answer holds further down, or quotes out of another one, however often it was escaped. */
const quotedCredential = /\\*"(code|accessToken|refreshToken)\\*"\s*:\s*\\*"([^"\\]{8,512})\\*"/g;
/** What stands beside a code, and beside no name of an error. */
const quotedState = /\\*"state\\*"\s*:/;
const QUOTED_CHARACTERS = 65_536;

/** The answer as text, where it is small enough to be searched each time. */
const textOf = (json: unknown): string => {
  if (typeof json !== "object" || json === null) return "";
  try {
    return JSON.stringify(json).slice(0, QUOTED_CHARACTERS);
  } catch {
    // Too deep to be written, which is no credential.
    return "";
  }
};

/** Many services put the name or the number of an error under `code`; masked, it would read differently in every run. */
const namesAnError = (code: string): boolean =>
  code.length < 16 || (/^[A-Za-z]+([_.: -][A-Za-z0-9]+)*$/.test(code) && !looksDrawn(code));

/** Digits, small letters and capitals in one long word: nobody names an error so. */
const looksDrawn = (code: string): boolean =>
  code.length >= 24 && [/\d/, /[a-z]/, /[A-Z]/].every((kind) => kind.test(code));

const eventsOf = (
  resolved: ResolvedProfile,
  freshUuid: () => string,
  run: (hook: HookDefinition, values: Readonly<Record<string, string | number>>) => Promise<HookAnswer>,
  account: LeftBehindAccount,
): Events | undefined => {
  const trigger = resolved.profile.hooks?.events?.trigger;
  if (trigger === undefined) return undefined;
  return createEvents({
    accounts: resolved.profile.accounts,
    freshUuid,
    runHook: async (values) => {
      const answer = await run(trigger, { ...values }).catch((error: unknown) => {
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

/** A call whose answer is lost may have done its work all the same; one that nobody took has not. */
const mayHaveBeenObeyed = (error: unknown): boolean =>
  error instanceof HookError && error.end?.kind === "lost" && error.end.reason !== "refused";

/** The target's time by what is known of it, without asking. */
const estimateNow = (clocks: ClockSource): EstimatedNow | undefined =>
  clocks.kind === "real" ? { nowMs: wallClock().getTime(), isDate: true } : clocks.estimate?.();
