import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import type { Exchange, Check } from "./exchange.ts";
import { obtainCode, obtainCodesTogether, redeemTogether, type IssuedCode } from "./login.ts";
import { judgeOpens, type Tokens } from "./oracles/tokens.ts";
import type { IterationContext } from "./iteration.ts";
import { AT_ONCE_MS, isPromptUse, mayHaveEnded, reliedUntilMs, type Issue } from "./issue.ts";

/** A logged-in client, kept by a virtual user between iterations. */
export interface Session {
  readonly client: ScriptClient;
  accessToken: string;
  refreshToken: string;
  access: Issue;
  readonly refresh: Issue;
  /** Source of the access token, until its first use. */
  fresh: "exchange" | "refresh" | undefined;
}

/** Authorizes and exchanges; undefined if either failed. */
export const logIn = (context: IterationContext, client?: ScriptClient): Session | undefined => {
  const issuedCode = obtainCode(context, client);
  return issuedCode === undefined ? undefined : sessionsFrom([issuedCode])[0];
};

/** Several concurrent logins. Failed logins are missing. */
export const logInTogether = (context: IterationContext, count: number): readonly Session[] =>
  sessionsFrom(obtainCodesTogether(context, count));

const sessionsFrom = (codes: readonly IssuedCode[]): readonly Session[] =>
  redeemTogether(codes).map(({ client, tokens, access, refresh }) => ({
    client,
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    access,
    refresh,
    fresh: "exchange",
  }));

export const takeRefreshed = (session: Session, askedAtMs: number, tokens: Tokens): void => {
  session.accessToken = tokens.accessToken;
  session.access = { askedAtMs, lifetimeMs: tokens.expiresInMs };
  session.fresh = "refresh";
};

export const isNearItsEnd = ({ access }: Session): boolean => epochMs() >= reliedUntilMs(access);

/** Whether the access token must be replaced before it is used. A new one is used at once, however short its life is. */
export const needsRefresh = (session: Session): boolean =>
  isNearItsEnd(session) && (session.fresh === undefined || epochMs() > session.access.askedAtMs + AT_ONCE_MS);

/** Whether the refresh token is still relied on; if not, the client must authorize again. */
export const canRefresh = ({ refresh }: Session): boolean => epochMs() < reliedUntilMs(refresh);

/** Makes the next iteration get a new token. */
export const dropToken = (session: Session): void => {
  session.access = { ...session.access, lifetimeMs: 0 };
};

/**
 * A use of the token at the list: the first, prompt use shows that it works, later uses that it lives as long as
 * promised.
 */
export const judgeUse = (session: Session, listing: Exchange): readonly Check[] => {
  const { access } = session;
  const isPrompt = isPromptUse(access, epochMs() - listing.durationMs);
  const origin = isPrompt ? session.fresh : undefined;
  session.fresh = undefined;
  if (origin === undefined ? isNearItsEnd(session) : mayHaveEnded(access, epochMs())) return [];
  return judgeOpens(origin === undefined ? "access.lifetime" : `${origin}.access-token-works`, listing);
};
