import { epochMs } from "./clock.ts";
import type { ScriptClient } from "../protocol.ts";
import type { Exchange, Check } from "./exchange.ts";
import {
  judgeOpens,
  type Tokens,
  grantOf,
  judgeAuthorization,
  judgeTokenSet,
  tokensOf,
} from "./oracles/tokens.ts";
import { type IterationContext, requests } from "./iteration.ts";
import { AT_ONCE_MS, isPromptUse, mayHaveEnded, reliedUntilMs, type Issue } from "./issue.ts";
import { issued, report } from "./report.ts";
import { sendTogether } from "./send.ts";
import { settings } from "./settings.ts";

export interface IssuedCode {
  readonly client: ScriptClient;
  readonly code: string;
  readonly issue: Issue;
}

/** Requests a code and judges the answer; undefined if no reliable code was received. */
export const obtainCode = (context: IterationContext, client?: ScriptClient): IssuedCode | undefined =>
  obtainCodesTogether(context, 1, client)[0];

/** Requests several codes concurrently, each with its own state: answers must not be mixed up. */
export const obtainCodesTogether = (
  context: IterationContext,
  count: number,
  given?: ScriptClient,
): readonly IssuedCode[] => {
  const issue = { askedAtMs: epochMs(), lifetimeMs: settings.limits.codeLifetimeMs };
  const asked = Array.from({ length: count }, () => ({
    client: given ?? context.someClient(),
    state: context.freshState(),
  }));
  const answers = sendTogether(asked.map(({ client, state }) => requests.authorize(client, state)));
  const states = asked.map(({ state }) => state);
  return asked.flatMap(({ client, state }, index) => {
    const answer = answers[index] as Exchange;
    report(judgeAuthorization(answer, state, states), [answer]);
    const grant = grantOf(answer);
    if (grant === undefined) return [];
    issued("code", grant.code);
    // A code returned with a foreign state may belong to another client, so its fate says nothing about codes.
    return grant.state === state ? [{ client, code: grant.code, issue }] : [];
  });
};

/** A code, and the tokens that its exchange brought. */
export interface Redeemed extends IssuedCode {
  readonly tokens: Tokens & { readonly refreshToken: string };
  readonly access: Issue;
  readonly refresh: Issue;
}

export const redeem = (code: IssuedCode): Redeemed | undefined => redeemTogether([code])[0];

/** Exchanges several codes concurrently. Those that brought no tokens are missing. */
export const redeemTogether = (codes: readonly IssuedCode[]): readonly Redeemed[] => {
  const askedAtMs = epochMs();
  const answers = sendTogether(codes.map(({ client, code }) => requests.exchange(client, code)));
  const refresh = { askedAtMs, lifetimeMs: settings.limits.refreshTokenLifetimeMs };
  return codes.flatMap((code, index) => {
    const answer = answers[index] as Exchange;
    report(judgeTokenSet(answer, mayHaveEnded(code.issue, epochMs())), [answer]);
    const tokens = tellIssued(answer);
    if (tokens === undefined) return [];
    return { ...code, tokens, access: { askedAtMs, lifetimeMs: tokens.expiresInMs }, refresh };
  });
};

/** The tokens of a granted exchange, which were issued by it. */
export const tellIssued = (answer: Exchange): Redeemed["tokens"] | undefined => {
  const tokens = tokensOf(answer);
  if (tokens === undefined) return undefined;
  issued("accessToken", tokens.accessToken);
  issued("refreshToken", tokens.refreshToken);
  return tokens;
};

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
