import type { RequirementId } from "../../../conformance/contract/catalogue.ts";
import { anomalyOf, type Attempt } from "../../../conformance/judging/laws/one-shot.ts";
import { gavePage, pageOf, showsData } from "../../../conformance/judging/laws/pages.ts";
import {
  claimsTokens,
  credentialsOf,
  holdsTokenSet,
  refreshTokenBreach,
  tokenSetBreach,
} from "../../../conformance/judging/laws/tokens.ts";
import {
  broken,
  checkOf,
  held,
  type Check,
  describe,
  isDecided,
  isSuccess,
  saysWrong,
  type Exchange,
  type Endpoint,
} from "../exchange.ts";
import {
  echoBreach,
  grantBreach,
  grantOf as grantIn,
  yieldsCode,
  type Grant,
} from "../../../conformance/judging/laws/grant.ts";
import { claimsPage } from "./pages.ts";

/** The grant in an authorize answer. A code in an error body is ignored: under load it cannot be tried. */
export const grantOf = (exchange: Exchange): Grant | undefined => {
  const grant = grantIn(exchange);
  return grant?.via === "json" && exchange.status >= 400 ? undefined : grant;
};

/** Checks of a valid authorize request; `others` are the states of concurrent requests. */
export const judgeAuthorization = (
  exchange: Exchange,
  state: string,
  others: readonly string[] = [],
): readonly Check[] => {
  const grant = grantOf(exchange);
  if (grant === undefined) {
    const claimsGrant = isSuccess(exchange) && exchange.fields["state"] === state;
    return claimsGrant || saysWrong(exchange)
      ? [broken("authorize.answers-with-code", yieldsCode, describe(exchange))]
      : [];
  }
  return [
    checkOf("authorize.answers-with-code", grantBreach(exchange), exchange),
    checkOf("authorize.echoes-state", echoBreach(grant, state, others), exchange),
  ];
};

/** Whether an answer has anything of what its endpoint grants; the answer of an event hook is not judged. */
const grants: Readonly<Record<Endpoint, (exchange: Exchange) => boolean>> = {
  authorize: (exchange) => grantOf(exchange) !== undefined || exchange.fields["state"] !== undefined,
  exchange: ({ fields }) => claimsTokens(fields),
  refresh: ({ fields }) => claimsTokens(fields),
  list: claimsPage,
  trigger: () => true,
};

/**
 * Whether a status of success stands above nothing at all, such as an error in a body, a cut body or a page for humans.
 * The document shows no errors, so this may mean "not now": the request failed, and no promise was broken.
 */
export const grantsNothing = (exchange: Exchange): boolean =>
  (isSuccess(exchange) || (exchange.endpoint === "authorize" && exchange.location !== undefined)) &&
  !grants[exchange.endpoint](exchange);

/** The usable part of an exchange's or a refresh's answer. */
export interface Tokens {
  readonly accessToken: string;
  /** Absent in the answer to a refresh. */
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
  // A token of unknown lifetime is only relied on briefly.
  return { accessToken, expiresInMs: typeof expiresIn === "number" && expiresIn > 0 ? expiresIn * 1_000 : 0 };
};

/** The first exchange of a code by its own client (section 4.2). A refusal proves nothing if it may have ended. */
export const judgeTokenSet = (exchange: Exchange, mayHaveEnded: boolean): readonly Check[] => {
  if (saysWrong(exchange))
    return mayHaveEnded
      ? []
      : [broken("code.single-use", "the first exchange of a code succeeds", describe(exchange))];
  if (!isSuccess(exchange) || !claimsTokens(exchange.fields)) return [];
  return [checkOf("exchange.token-set", tokenSetBreach("exchange", exchange.fields), exchange)];
};

/** A refresh with a refresh token (section 4.3). A refusal proves nothing if it may have ended. */
export const judgeRefresh = (exchange: Exchange, mayHaveEnded: boolean): readonly Check[] => {
  const reusable = "a refreshToken works repeatedly within its life, also concurrently";
  if (saysWrong(exchange))
    return mayHaveEnded ? [] : [broken("refresh.reusable", reusable, describe(exchange))];
  if (!isSuccess(exchange) || !claimsTokens(exchange.fields)) return [];
  return [
    held("refresh.reusable"),
    checkOf("refresh.token-set", tokenSetBreach("refresh", exchange.fields), exchange),
    checkOf("refresh.returns-no-refresh-token", refreshTokenBreach(exchange.fields), exchange),
  ];
};

const opens = (listing: Exchange): boolean => isSuccess(listing) && gavePage(listing);

/** The first use of a fresh access token at the list; `rule` says where the token came from. */
export const judgeOpens = (
  rule: RequirementId & ("exchange.access-token-works" | "refresh.access-token-works" | "access.lifetime"),
  listing: Exchange,
): readonly Check[] => {
  if (saysWrong(listing))
    return [broken(rule, "a live accessToken opens the list of notifications", describe(listing))];
  return opens(listing) ? [held(rule)] : [];
};

/**
 * Concurrent refreshes may end each other's tokens, but at least one token must open the list. A refresh without an
 * answer that decides may have taken effect: then the only token that works is the one that did not arrive.
 */
export const judgeOneOpens = (
  answers: readonly Exchange[],
  listings: readonly Exchange[],
): readonly Check[] => {
  const rule = "refresh.access-token-works";
  if (listings.some(opens)) return [held(rule)];
  if (listings.length === 0 || ![...answers, ...listings].every(isDecided)) return [];
  if (!listings.every(saysWrong)) return [];
  const expected = `of ${listings.length} concurrent refreshes at least one brings an accessToken that works`;
  return [broken(rule, expected, "none of them opens the list")];
};

/**
 * Concurrent exchanges of one code. If none succeeds, the service may have broken a deadlock; a missing answer may have
 * been the grant.
 */
export const judgeRace = (contenders: readonly Exchange[]): readonly Check[] => {
  const rule = "code.single-use-under-race";
  const outcomeOf = (contender: Exchange): Attempt["outcome"] =>
    holdsTokenSet(contender.fields) ? "granted" : isDecided(contender) ? "refused" : "unknown";
  const attempts = contenders.map((one) => ({ invokedAt: 0, returnedAt: 1, outcome: outcomeOf(one) }));
  const granted = attempts.filter(({ outcome }) => outcome === "granted").length;
  const expected = "of concurrent exchanges of one code at most one succeeds";
  if (anomalyOf(attempts) === "granted-twice")
    return [broken(rule, expected, `${granted} of ${contenders.length} got tokens`)];
  return contenders.filter(isDecided).length > 1 ? [held(rule)] : [];
};

/** A code presented again after its exchange was granted. */
export const judgeReuse = (again: Exchange): readonly Check[] => {
  if (holdsTokenSet(again.fields))
    return [broken("code.single-use", "a code that was exchanged is refused from then on", describe(again))];
  return isDecided(again) ? [held("code.single-use")] : [];
};

/** What a grant must not answer, by the rule that a credential which was never issued tests. */
const never = {
  "code.unknown": "a code that was never issued is refused",
  "refresh.unknown": "a value that was never issued as a refreshToken is refused",
} as const;

/**
 * A code or refreshToken that was never issued. `uses` are lists with the accessToken that it yielded, if any: only a
 * token that works was granted.
 */
export const judgeForged = (
  rule: keyof typeof never,
  forged: Exchange,
  uses: readonly Exchange[],
): readonly Check[] => {
  if (uses.some(opens)) return [broken(rule, never[rule], describe(forged))];
  return isDecided(forged) && uses.every(isDecided) ? [held(rule)] : [];
};

/**
 * A list with a token that was never issued. Only meaningful if a valid token opens the list meanwhile: if it shows
 * nothing to that one either, a page at all tells whether the stranger was let in.
 */
export const judgeKeptOut = (listing: Exchange, control: Exchange): readonly Check[] => {
  const [page, own] = [pageOf(listing.fields), pageOf(control.fields)];
  const isEmpty = own !== undefined && !showsData(own);
  if (page !== undefined && (showsData(page) || (isEmpty && opens(control) && gavePage(listing))))
    return [broken("access.required", "no data is returned without a valid accessToken", describe(listing))];
  return isDecided(listing) && opens(control) ? [held("access.required")] : [];
};

/** A code with a wrong secret. Only meaningful if the control, a valid exchange of a second code, succeeds. */
export const judgeWrongSecret = (wrong: Exchange, control: Exchange): readonly Check[] => {
  if (holdsTokenSet(wrong.fields))
    return [broken("exchange.authenticates-client", "a wrong clientSecret gets no tokens", describe(wrong))];
  return isDecided(wrong) && tokensOf(control) !== undefined ? [held("exchange.authenticates-client")] : [];
};
