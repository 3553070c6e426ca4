interface OfClient {
  readonly client: unknown;
}

/** Where a session may come from. */
export interface Logins<S extends OfClient> {
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
