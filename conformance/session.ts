import { grantOf } from "./answers.ts";
import { documentLimits, type Limits } from "./contract/limits.ts";
import type { HookDefinition } from "./contract/profile.ts";
import type { ResolvedProfile } from "./profile.ts";
import { monotonicMs, type Clock, type ClockSource } from "./world/clock.ts";
import type { NotificationSets } from "./world/dataset.ts";
import { createEvents, type Events } from "./world/events.ts";
import { resultOf, runHook, type HookAnswer } from "./world/hooks.ts";
import { createJournal, type Journal, type JournalSink, type Scope } from "./world/journal.ts";
import { createRawTarget } from "./world/raw.ts";
import { createSecrets, type Secrets } from "./world/secrets.ts";
import { createTarget, encodeQuery } from "./world/target.ts";
import { clockSource } from "./world/time.ts";
import { createTransport, type Transport, type TransportOptions } from "./world/transport.ts";
import type { Tolerances, World } from "./world/world.ts";

export interface SessionOptions {
  /** The longest single wait where the target's time cannot be advanced, in milliseconds. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Gives a new UUID at each call; keeps accounts and states of several runs apart. */
  readonly freshUuid: () => string;
  readonly sink?: JournalSink;
}

/** What the preflight found out, and all worlds then hold. */
export interface Prepared {
  readonly notifications: NotificationSets;
  readonly accessLifetimeMs: number;
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
  readonly freshUuid: () => string;
  readonly signal: AbortSignal;
  world(scope: Scope, clock: Clock, prepared: Prepared): World;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 48;

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
  const secrets = createSecrets();
  for (const { secret } of clients) secrets.conceal(secret, "client secret");
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
  const stop = new AbortController();
  let hooksRunning = 0;
  const transportOptions: TransportOptions = {
    origin: base.origin,
    journal,
    timeoutMs: requestTimeoutMs,
    startedAtMs,
    maxConnections: MAX_CONNECTIONS,
    learn: (answer) => learn(secrets, answer),
  };
  const transport = createTransport(transportOptions);
  const clocks = clockSource({
    now: profile.hooks?.clock?.now,
    advance: profile.hooks?.clock?.advance,
    inFlight: () => transport.inFlight() + hooksRunning,
    maxWaitMs: options.maxWaitMs,
    signal: stop.signal,
  });
  const limits = limitsOf(resolved);
  const tolerances: Tolerances = {
    lifetimeGuardMs: profile.tolerances?.lifetimeGuardMs ?? guardMs[clocks.kind],
    visibilityMs: profile.tolerances?.visibilityMs ?? 30_000,
    requestTimeoutMs,
  };
  // An interrupted run does not wait for answers that may never come.
  const interrupt = (): void => {
    stop.abort();
    void transport.close();
  };
  options.signal.addEventListener("abort", interrupt, { once: true });
  if (options.signal.aborted) interrupt();
  const events = eventsOf(resolved, options.freshUuid, async (hook, values) => {
    // Time stands still for whoever waits for a hook, as for whoever waits for an answer.
    hooksRunning += 1;
    try {
      return await runHook("events.trigger", hook, values, stop.signal);
    } finally {
      hooksRunning -= 1;
    }
  });
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
    freshUuid: options.freshUuid,
    signal: options.signal,
    close: () => {
      options.signal.removeEventListener("abort", interrupt);
      return transport.close();
    },
    world: (scope, clock, prepared) => {
      const addressed = { basePath, headers, authorize };
      return {
        ...prepared,
        limits,
        tolerances,
        client,
        secondClient,
        clock,
        events,
        secrets,
        unique,
        target: createTarget(transport, { scope, clock }, { ...addressed, client, freshState: unique }),
        raw: createRawTarget({ ...transportOptions, ...addressed, scope, clock }),
      };
    },
  };
};

/** Remembers the credentials in an answer, so that they are masked wherever they turn up. */
const learn = (secrets: Secrets, answer: Parameters<TransportOptions["learn"]>[0]): void => {
  if (typeof answer.json === "object" && answer.json !== null) {
    const { code, state, accessToken, refreshToken } = answer.json as Record<string, unknown>;
    if (typeof code === "string" && (typeof state === "string" || !namesAnError(code)))
      secrets.conceal(code, "code");
    if (typeof accessToken === "string") secrets.conceal(accessToken, "access token");
    if (typeof refreshToken === "string") secrets.conceal(refreshToken, "refresh token");
  }
  const location = answer.headers.find(([name]) => name === "location");
  if (location === undefined) return;
  const grant = grantOf({ exchange: 0, status: 302, headers: [location], text: "", json: undefined });
  if (grant !== undefined) secrets.conceal(grant.code, "code");
};

/** Many services put the name or the number of an error under `code`; masked, it would read differently in every run. */
const namesAnError = (code: string): boolean => code.length < 16 || /^[A-Za-z]+([_.: -][A-Za-z0-9]+)*$/.test(code);

const eventsOf = (
  resolved: ResolvedProfile,
  freshUuid: () => string,
  run: (hook: HookDefinition, values: Readonly<Record<string, string | number>>) => Promise<HookAnswer>,
): Events | undefined => {
  const trigger = resolved.profile.hooks?.events?.trigger;
  if (trigger === undefined) return undefined;
  return createEvents({
    accounts: resolved.profile.accounts,
    freshUuid,
    runHook: async (values) => {
      const answer = await run(trigger, { ...values });
      const id = resultOf(answer, trigger.result, ["/id", "/notificationId", "/data/id"]);
      return typeof id === "string" && id !== "" ? id : undefined;
    },
    clientId: resolved.clients[0]?.id ?? "",
  });
};

export type { Journal };
