import type { TimeInterval } from "../judging/interval.ts";
import type { AccessState, CodeState, GrantState, Model } from "./states.ts";

/** Tokens as an answer gave them; `lifetimeMs` is expiresIn in milliseconds, NaN where it is no number. */
export interface GivenTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly lifetimeMs: number;
}

/** An authorization gave a code (section 3.1: the state "issued"). */
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

/** An exchange gave tokens (section 3.1: "issued" to "used"). */
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
 * An exchange was refused. The document does not show whether that burns a code, nor
 * whether a second presentation takes back what the first one gave.
 */
export const exchangeRefused = (code: CodeState): void => {
  code.doubtful = true;
  if (code.grant !== undefined) code.grant.doubtful = true;
};

/** A refresh gave an access token; the earlier ones of the grant may live on or not. */
export const refreshed = (
  model: Model,
  grant: GrantState,
  tokens: Pick<GivenTokens, "accessToken" | "lifetimeMs">,
  issued: TimeInterval,
): void => {
  for (const earlier of model.accesses) if (earlier.grant === grant) earlier.doubtful = true;
  accessIssued(model, grant, tokens, issued);
};

/**
 * An access token came to be. One whose text was seen before (a service may derive it
 * from the second of its issue) has two moments of issue, so nothing is expected of either.
 */
const accessIssued = (
  model: Model,
  grant: GrantState,
  tokens: Pick<GivenTokens, "accessToken" | "lifetimeMs">,
  issued: TimeInterval,
): void => {
  const same = model.accesses.filter(({ value }) => value === tokens.accessToken);
  for (const earlier of same) earlier.doubtful = true;
  const access: AccessState = {
    value: tokens.accessToken,
    grant,
    issued,
    lifetimeMs: tokens.lifetimeMs,
    doubtful: same.length > 0,
  };
  model.accesses.push(access);
};
