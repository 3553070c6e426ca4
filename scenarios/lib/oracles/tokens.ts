import type { RequirementId } from "../../../conformance/contract/catalogue.ts";
import { anomalyOf } from "../../../conformance/judging/laws/one-shot.ts";
import { gavePage } from "../../../conformance/judging/laws/pages.ts";
import {
  claimsTokens,
  credentialsOf,
  holdsTokenSet,
  refreshTokenBreach,
  tokenSetBreach,
} from "../../../conformance/judging/laws/tokens.ts";
import { broken, checkOf, held, type Check } from "../check.ts";
import { describe, isDecided, isSuccess, saysWrong, type Exchange } from "../exchange.ts";

/** What an exchange or a refresh gave, as far as it is usable. */
export interface Tokens {
  readonly accessToken: string;
  /** None in the answer to a refresh. */
  readonly refreshToken?: string;
  readonly expiresInMs: number;
}

/** The tokens of a granted exchange; undefined unless both are there. */
export const tokensOf = (exchange: Exchange): (Tokens & { readonly refreshToken: string }) | undefined => {
  const tokens = refreshedOf(exchange);
  const { refreshToken } = credentialsOf(exchange.fields);
  return tokens === undefined || refreshToken === undefined ? undefined : { ...tokens, refreshToken };
};

export const refreshedOf = (exchange: Exchange): Tokens | undefined => {
  const { accessToken, expiresIn } = credentialsOf(exchange.fields);
  if (!isSuccess(exchange) || accessToken === undefined) return undefined;
  // A token of unknown lifetime is not relied on for long.
  return { accessToken, expiresInMs: typeof expiresIn === "number" && expiresIn > 0 ? expiresIn * 1_000 : 0 };
};

/** The first exchange of a fresh code by its own client (section 4.2). */
export const judgeTokenSet = (exchange: Exchange): readonly Check[] => {
  if (saysWrong(exchange))
    return [broken("code.single-use", "the first exchange of a code succeeds", describe(exchange))];
  if (!isSuccess(exchange) || !claimsTokens(exchange.fields)) return [];
  return [checkOf("exchange.token-set", tokenSetBreach("exchange", exchange.fields), exchange)];
};

/** A refresh with a live refresh token (section 4.3). */
export const judgeRefresh = (exchange: Exchange): readonly Check[] => {
  if (saysWrong(exchange))
    return [
      broken(
        "refresh.reusable",
        "a refreshToken works again and again within its life, also at the same time",
        describe(exchange),
      ),
    ];
  if (!isSuccess(exchange) || !claimsTokens(exchange.fields)) return [];
  return [
    held("refresh.reusable"),
    checkOf("refresh.token-set", tokenSetBreach("refresh", exchange.fields), exchange),
    checkOf("refresh.returns-no-refresh-token", refreshTokenBreach(exchange.fields), exchange),
  ];
};

const opens = (listing: Exchange): boolean => isSuccess(listing) && gavePage(listing);

/** The first use of a fresh access token at the list; `rule` tells where the token came from. */
export const judgeOpens = (
  rule: RequirementId & ("exchange.access-token-works" | "refresh.access-token-works" | "access.lifetime"),
  listing: Exchange,
): readonly Check[] => {
  if (saysWrong(listing))
    return [broken(rule, "a live accessToken opens the list of notifications", describe(listing))];
  return opens(listing) ? [held(rule)] : [];
};

/** Refreshes at the same time may end one another's tokens, but at least one has to open the list. */
export const judgeOneOpens = (listings: readonly Exchange[]): readonly Check[] => {
  if (listings.some(opens)) return [held("refresh.access-token-works")];
  return listings.length > 0 && listings.every(saysWrong)
    ? [
        broken(
          "refresh.access-token-works",
          `of ${listings.length} refreshes at the same time one at least brings an accessToken that works`,
          "none of them opens the list",
        ),
      ]
    : [];
};

/**
 * Exchanges of one code at the same time. That none succeeds may be a deadlock that the service
 * broke, and a missing answer may have been the grant.
 */
export const judgeRace = (contenders: readonly Exchange[]): readonly Check[] => {
  const attempts = contenders.map((contender) => ({
    invokedAt: 0,
    returnedAt: 1,
    outcome: holdsTokenSet(contender.fields)
      ? ("granted" as const)
      : isDecided(contender)
        ? ("refused" as const)
        : ("unknown" as const),
  }));
  if (anomalyOf(attempts) === "granted-twice")
    return [
      broken(
        "code.single-use-under-race",
        "of exchanges of one code at the same time at most one succeeds",
        `${attempts.filter(({ outcome }) => outcome === "granted").length} of ${contenders.length} got tokens`,
      ),
    ];
  const decided = contenders.filter(isDecided).length;
  return decided > 1 ? [held("code.single-use-under-race")] : [];
};

/** A code that is presented again after its exchange was granted. */
export const judgeReuse = (again: Exchange): readonly Check[] => {
  if (holdsTokenSet(again.fields))
    return [broken("code.single-use", "a code that was exchanged is refused from then on", describe(again))];
  return isDecided(again) ? [held("code.single-use")] : [];
};

/** A code with a wrong secret. It says something only where the control, a right exchange of a second code, succeeds. */
export const judgeWrongSecret = (wrong: Exchange, control: Exchange): readonly Check[] => {
  if (holdsTokenSet(wrong.fields))
    return [broken("exchange.authenticates-client", "a wrong clientSecret gets no tokens", describe(wrong))];
  return isDecided(wrong) && tokensOf(control) !== undefined ? [held("exchange.authenticates-client")] : [];
};
