/** When a credential was asked for, in wall-clock milliseconds, and how long it then lives. */
export interface Issue {
  readonly askedAtMs: number;
  /** 0 if unknown. */
  readonly lifetimeMs: number;
}

/** A credential is not relied on in the last tenth of its life, or its last two seconds. */
export const reliedUntilMs = ({ askedAtMs, lifetimeMs }: Issue): number =>
  askedAtMs + lifetimeMs - Math.max(2_000, lifetimeMs / 10);

/** A token that lives too shortly to be relied on is used within this time. */
export const AT_ONCE_MS = 1_000;

/**
 * Whether the first use of a token shows that it works, not how long it lives: within a hundredth of its life, which is
 * more than a busy machine takes, or within a second if it lives shortly.
 */
export const isPromptUse = ({ askedAtMs, lifetimeMs }: Issue, usedAtMs: number): boolean =>
  usedAtMs - askedAtMs <= Math.max(AT_ONCE_MS, lifetimeMs / 100);

/**
 * Whether a refusal that was read at this moment proves nothing, because the credential may have ended meanwhile. One
 * that is never relied on, because it lives so shortly, must still work at once.
 */
export const mayHaveEnded = (issue: Issue, nowMs: number): boolean => {
  const { askedAtMs, lifetimeMs } = issue;
  const atOnceMs = lifetimeMs === 0 ? AT_ONCE_MS : Math.min(AT_ONCE_MS, lifetimeMs / 2);
  return nowMs > Math.max(reliedUntilMs(issue), askedAtMs + atOnceMs);
};

interface OfClient {
  readonly client: unknown;
}

/** Where a session may come from. */
interface Logins<S extends OfClient> {
  /** One that was made before the load, if there is any. */
  readonly prepared: () => S | undefined;
  /** Logs this client in, or any if undefined; returns undefined if that fails. */
  readonly logIn: (client: S["client"] | undefined) => S | undefined;
}

/**
 * Keeps the session of one virtual user, which always has the same client: accounts may be shown to one client alone, so
 * a login that failed must not be followed by one of another client.
 */
export const createOwnSession = <S extends OfClient>(isOver: (session: S) => boolean) => {
  let session: S | undefined;
  let client: S["client"] | undefined;
  /** The session while it lives, or a new one. */
  return ({ prepared, logIn }: Logins<S>): S | undefined => {
    if (session !== undefined && !isOver(session)) return session;
    session = (client === undefined ? prepared() : undefined) ?? logIn(client);
    client ??= session?.client;
    return session;
  };
};
