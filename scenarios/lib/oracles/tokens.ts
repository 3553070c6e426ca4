import type { RequirementId } from "../../../conformance/contract/catalogue.ts";
import { describe, isDecided, isSuccess, isText, saysWrong, type Exchange } from "../exchange.ts";
import { broke, held, look, type Look } from "../looks.ts";

/** What an exchange or a refresh gave, as far as it is usable. */
export interface Tokens {
  readonly accessToken: string;
  /** None in the answer to a refresh. */
  readonly refreshToken?: string;
  readonly expiresInMs: number;
}

/** The tokens of a granted exchange; undefined where they are not all there. */
export const tokensOf = (exchange: Exchange): (Tokens & { readonly refreshToken: string }) | undefined => {
  const { accessToken, refreshToken } = exchange.fields;
  return isSuccess(exchange) && isText(accessToken) && isText(refreshToken)
    ? { accessToken, refreshToken, expiresInMs: lifetimeOf(exchange) }
    : undefined;
};

export const refreshedOf = (exchange: Exchange): Tokens | undefined => {
  const { accessToken } = exchange.fields;
  return isSuccess(exchange) && isText(accessToken)
    ? { accessToken, expiresInMs: lifetimeOf(exchange) }
    : undefined;
};

/** 0 where the answer does not say, so that nobody relies on such a token for long. */
const lifetimeOf = ({ fields: { expiresIn } }: Exchange): number =>
  typeof expiresIn === "number" && expiresIn > 0 ? expiresIn * 1_000 : 0;

/** A whole token set is a grant, whatever its status says and whether it is alive by the time anyone looks. */
const isGrant = ({ fields }: Exchange): boolean =>
  isText(fields["accessToken"]) && isText(fields["refreshToken"]);

/** Some services refuse with status 200: an answer without any of the fields is a refusal, not a token set gone wrong. */
const claimsTokens = ({ fields }: Exchange): boolean =>
  ["accessToken", "refreshToken", "expiresIn"].some(
    (name) => fields[name] !== undefined && fields[name] !== null,
  );

const isLifetime = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

/** The first exchange of a fresh code by its own client (section 4.2). */
export const judgeTokenSet = (exchange: Exchange): readonly Look[] => {
  if (saysWrong(exchange))
    return [broke("code.single-use", "the first exchange of a code succeeds", describe(exchange))];
  if (!isSuccess(exchange) || !claimsTokens(exchange)) return [];
  const { accessToken, refreshToken, expiresIn, timestamp } = exchange.fields;
  const isWhole =
    isText(accessToken) && isText(refreshToken) && isLifetime(expiresIn) && typeof timestamp === "number";
  return [
    look(
      "exchange.token-set",
      isWhole,
      "accessToken and refreshToken as non-empty strings, expiresIn a positive number, timestamp a number",
      () => describe(exchange),
    ),
  ];
};

/** A refresh with a live refresh token (section 4.3). */
export const judgeRefresh = (exchange: Exchange): readonly Look[] => {
  if (saysWrong(exchange))
    return [
      broke(
        "refresh.reusable",
        "a refreshToken works again and again within its life, also at the same time",
        describe(exchange),
      ),
    ];
  if (!isSuccess(exchange) || !claimsTokens(exchange)) return [];
  const { accessToken, refreshToken, expiresIn, timestamp } = exchange.fields;
  return [
    held("refresh.reusable"),
    look(
      "refresh.token-set",
      isText(accessToken) && isLifetime(expiresIn) && typeof timestamp === "number",
      "accessToken as a non-empty string, expiresIn a positive number, timestamp a number",
      () => describe(exchange),
    ),
    look(
      "refresh.returns-no-refresh-token",
      refreshToken === undefined || refreshToken === null || refreshToken === "",
      "a refresh answers without a refreshToken",
      () => describe(exchange),
    ),
  ];
};

/** The first use of a fresh access token at the list; `rule` tells where the token came from. */
export const judgeOpens = (
  rule: RequirementId & ("exchange.access-token-works" | "refresh.access-token-works" | "access.lifetime"),
  listing: Exchange,
): readonly Look[] => {
  if (saysWrong(listing))
    return [broke(rule, "a live accessToken opens the list of notifications", describe(listing))];
  return isSuccess(listing) && Array.isArray(listing.fields["data"]) ? [held(rule)] : [];
};

/** Refreshes at the same time may end one another's tokens; one of them at least has to open the list. */
export const judgeOneOpens = (listings: readonly Exchange[]): readonly Look[] => {
  const opened = listings.some((listing) => isSuccess(listing) && Array.isArray(listing.fields["data"]));
  if (opened) return [held("refresh.access-token-works")];
  return listings.length > 0 && listings.every(saysWrong)
    ? [
        broke(
          "refresh.access-token-works",
          `of ${listings.length} refreshes at the same time one at least brings an accessToken that works`,
          "none of them opens the list",
        ),
      ]
    : [];
};

/**
 * Exchanges of one code at the same time. None that succeeds may be a deadlock that the service
 * broke, and an answer that did not come may have been the one that was granted.
 */
export const judgeRace = (contenders: readonly Exchange[]): readonly Look[] => {
  const granted = contenders.filter(isGrant).length;
  if (granted > 1)
    return [
      broke(
        "code.single-use-under-race",
        "of exchanges of one code at the same time at most one succeeds",
        `${granted} of ${contenders.length} got tokens`,
      ),
    ];
  return contenders.filter(isDecided).length > 1 ? [held("code.single-use-under-race")] : [];
};

/** A code that is presented again after its exchange was granted. */
export const judgeReuse = (again: Exchange): readonly Look[] => {
  if (isGrant(again))
    return [broke("code.single-use", "a code that was exchanged is refused from then on", describe(again))];
  return isDecided(again) ? [held("code.single-use")] : [];
};

/** A code with a wrong secret; the control is a right exchange of its twin, which has to succeed for this to say anything. */
export const judgeWrongSecret = (wrong: Exchange, control: Exchange): readonly Look[] => {
  if (isGrant(wrong))
    return [broke("exchange.authenticates-client", "a wrong clientSecret gets no tokens", describe(wrong))];
  return isDecided(wrong) && tokensOf(control) !== undefined ? [held("exchange.authenticates-client")] : [];
};
