import {
  echoBreach,
  grantBreach,
  grantOf as grantIn,
  yieldsCode,
  type Grant,
} from "../../../conformance/judging/laws/grant.ts";
import { broken, checkOf, type Check, describe, isSuccess, saysWrong, type Exchange } from "../exchange.ts";

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
