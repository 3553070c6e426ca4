import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import type { Exchange } from "./exchange.ts";
import type { Check } from "./check.ts";
import { obtainCode, obtainCodesTogether, redeemTogether, type IssuedCode } from "./login.ts";
import { judgeOpens, type Tokens } from "./oracles/tokens.ts";
import type { IterationContext } from "./iteration.ts";

/** A logged-in client, kept by a virtual user between iterations. */
export interface Session {
  readonly client: ScriptClient;
  accessToken: string;
  refreshToken: string;
  /** When the token stops being relied on, in wall-clock milliseconds. */
  endsAtMs: number;
  /** Source of the access token, until its first use. */
  fresh: "exchange" | "refresh" | undefined;
  /** When the access token was requested, in wall-clock milliseconds. */
  askedAtMs: number;
}

/** A token is not relied on in the last tenth of its life, or its last two seconds. */
const usableUntilMs = (askedAtMs: number, { expiresInMs }: Tokens): number =>
  askedAtMs + expiresInMs - Math.max(2_000, expiresInMs / 10);

/** Authorizes and exchanges; undefined if either failed. */
export const logIn = (context: IterationContext, client?: ScriptClient): Session | undefined => {
  const issuedCode = obtainCode(context, client);
  return issuedCode === undefined ? undefined : sessionsFrom([issuedCode])[0];
};

/** Several concurrent logins. Failed logins are missing. */
export const logInTogether = (context: IterationContext, count: number): readonly Session[] =>
  sessionsFrom(obtainCodesTogether(context, count));

const sessionsFrom = (codes: readonly IssuedCode[]): readonly Session[] => {
  const askedAtMs = epochMs();
  return redeemTogether(codes).map(({ client, tokens }) => ({
    client,
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    endsAtMs: usableUntilMs(askedAtMs, tokens),
    fresh: "exchange",
    askedAtMs,
  }));
};

export const takeRefreshed = (session: Session, askedAtMs: number, tokens: Tokens): void => {
  session.accessToken = tokens.accessToken;
  session.endsAtMs = usableUntilMs(askedAtMs, tokens);
  session.fresh = "refresh";
  session.askedAtMs = askedAtMs;
};

export const isNearItsEnd = (session: Session): boolean => epochMs() >= session.endsAtMs;

/** Makes the next iteration get a new token. */
export const dropToken = (session: Session): void => {
  session.endsAtMs = 0;
};

/** A token first used later than this tests its lifetime, not its issue. */
const AT_ONCE_MS = 1_000;

/**
 * A use of the token at the list: the first immediate use shows that it works, later uses that it lives as long as
 * promised.
 */
export const judgeUse = (session: Session, listing: Exchange): readonly Check[] => {
  const isAtOnce = epochMs() - listing.durationMs - session.askedAtMs <= AT_ONCE_MS;
  const origin = isAtOnce ? session.fresh : undefined;
  session.fresh = undefined;
  if (origin === undefined && isNearItsEnd(session)) return [];
  return judgeOpens(origin === undefined ? "access.lifetime" : `${origin}.access-token-works`, listing);
};
