import type { TimeInterval } from "../judging/interval.ts";
import type { AccessState, CodeState, GrantState, Model } from "./states.ts";

/** Tokens from an answer; `lifetimeMs` is expiresIn in milliseconds, NaN if it is not a number. */
export interface GivenTokens extends Pick<AccessState, "lifetimeMs" | "cutMs"> {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** An authorization issued a code (section 3.1: the state "issued"). */
export const codeIssued = (model: Model, value: string, client: number, issued: TimeInterval): CodeState => {
  const code: CodeState = {
    value,
    client,
    issued,
    lifetimeMs: model.limits.codeLifetimeMs,
    used: false,
    doubtful: false,
    grant: undefined,
  };
  model.codes.push(code);
  return code;
};

/** An exchange issued tokens (section 3.1: "issued" to "used"). */
export const codeUsed = (model: Model, code: CodeState, tokens: GivenTokens, issued: TimeInterval): void => {
  const grant: GrantState = {
    refreshToken: tokens.refreshToken,
    client: code.client,
    issued,
    lifetimeMs: model.limits.refreshTokenLifetimeMs,
    doubtful: model.grants.some(({ refreshToken }) => refreshToken === tokens.refreshToken),
  };
  code.used = true;
  code.grant = grant;
  model.grants.push(grant);
  accessIssued(model, grant, tokens, issued);
};

/**
 * An exchange was refused. The document does not show whether that burns a code, nor whether a second presentation
 * revokes what the first one yielded.
 */
export const exchangeRefused = (code: CodeState): void => {
  code.doubtful = true;
  if (code.grant !== undefined) code.grant.doubtful = true;
};

/** A refresh issued an access token; the earlier ones of the grant may or may not still work. */
export const refreshed = (
  model: Model,
  grant: GrantState,
  tokens: Omit<GivenTokens, "refreshToken">,
  issued: TimeInterval,
): void => {
  for (const earlier of model.accesses) if (earlier.grant === grant) earlier.doubtful = true;
  accessIssued(model, grant, tokens, issued);
};

/**
 * An access token was issued. One whose text was seen before (a service may derive it from the second of issue) has two
 * times of issue, so nothing is expected of either.
 */
const accessIssued = (
  model: Model,
  grant: GrantState,
  tokens: Omit<GivenTokens, "refreshToken">,
  issued: TimeInterval,
): void => {
  const same = model.accesses.filter(({ value }) => value === tokens.accessToken);
  for (const earlier of same) earlier.doubtful = true;
  const access: AccessState = {
    value: tokens.accessToken,
    grant,
    issued,
    lifetimeMs: tokens.lifetimeMs,
    cutMs: tokens.cutMs,
    doubtful: same.length > 0,
  };
  model.accesses.push(access);
};
