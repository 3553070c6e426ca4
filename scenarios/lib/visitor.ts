import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import type { Exchange } from "./exchange.ts";
import type { Look } from "./looks.ts";
import { obtainCode, obtainCodesTogether, redeem, redeemTogether, type ExchangedTokens } from "./login.ts";
import { judgeOpens, type Tokens } from "./oracles/tokens.ts";
import type { Play } from "./play.ts";

/** A logged-in client: what a virtual user keeps from one iteration to the next. */
export interface Visitor {
  readonly client: ScriptClient;
  accessToken: string;
  refreshToken: string;
  /** The token is not relied upon from here on, in milliseconds of the wall clock. */
  endsAtMs: number;
  /** Where the access token came from, for as long as nobody has used it. */
  fresh: "exchange" | "refresh" | undefined;
  /** When the access token was asked for, in milliseconds of the wall clock. */
  askedAtMs: number;
}

/** Nobody relies on a token for the last tenth of its life, or its last two seconds. */
const usableUntilMs = (askedAtMs: number, { expiresInMs }: Tokens): number =>
  askedAtMs + expiresInMs - Math.max(2_000, expiresInMs / 10);

/** Authorizes and exchanges; undefined where either did not succeed. */
export const logIn = (play: Play, client?: ScriptClient): Visitor | undefined => {
  const issuedCode = obtainCode(play, client);
  if (issuedCode === undefined) return undefined;
  const askedAtMs = epochMs();
  const tokens = redeem(issuedCode);
  return tokens === undefined ? undefined : visitorWith(issuedCode.client, askedAtMs, tokens);
};

/** Logs in several at once. Those whose login failed are missing. */
export const logInTogether = (play: Play, count: number): readonly Visitor[] => {
  const codes = obtainCodesTogether(play, count).filter((code) => code !== undefined);
  const askedAtMs = epochMs();
  return redeemTogether(codes).flatMap((tokens, index) => {
    const client = codes[index]?.client;
    return tokens === undefined || client === undefined ? [] : visitorWith(client, askedAtMs, tokens);
  });
};

const visitorWith = (client: ScriptClient, askedAtMs: number, tokens: ExchangedTokens): Visitor => ({
  client,
  accessToken: tokens.accessToken,
  refreshToken: tokens.refreshToken,
  endsAtMs: usableUntilMs(askedAtMs, tokens),
  fresh: "exchange",
  askedAtMs,
});

/** Puts a refreshed access token in the place of the one before. */
export const takeRefreshed = (visitor: Visitor, askedAtMs: number, tokens: Tokens): void => {
  visitor.accessToken = tokens.accessToken;
  visitor.endsAtMs = usableUntilMs(askedAtMs, tokens);
  visitor.fresh = "refresh";
  visitor.askedAtMs = askedAtMs;
};

export const isNearItsEnd = (visitor: Visitor): boolean => epochMs() >= visitor.endsAtMs;

/** The next iteration does not rely on the token any more. */
export const dropToken = (visitor: Visitor): void => {
  visitor.endsAtMs = 0;
};

/** A token that is first used later than this tells of its life, not of its birth. */
const AT_ONCE_MS = 1_000;

/** A use of the token at the list: the first one, at once, shows that it works, later ones that it lives as long as it said. */
export const judgeUse = (visitor: Visitor, listing: Exchange): readonly Look[] => {
  const isAtOnce = epochMs() - listing.durationMs - visitor.askedAtMs <= AT_ONCE_MS;
  const origin = isAtOnce ? visitor.fresh : undefined;
  visitor.fresh = undefined;
  if (origin === undefined && isNearItsEnd(visitor)) return [];
  return judgeOpens(origin === undefined ? "access.lifetime" : `${origin}.access-token-works`, listing);
};
