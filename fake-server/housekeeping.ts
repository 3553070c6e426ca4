import type { Behaviour } from "./behaviour.ts";
import { type Context, purge } from "./context.ts";

/** Checked once per this many issues, so that the cost per request is negligible. */
const ISSUES_BETWEEN = 256;
/** A dead credential is remembered for one more lifetime, so that it is refused as expired rather than unknown. */
const REMEMBERED_LIFETIMES = 2;

/** Creates the function that is called with each issued credential and forgets those long dead. */
export const createHousekeeper = (): ((behaviour: Behaviour, context: Context) => void) => {
  let issues = 0;
  return (behaviour, context) => {
    issues += 1;
    if (issues % ISSUES_BETWEEN !== 0) return;
    const { credentials, limits, nowMs } = context;
    const longAgo = (issuedAtMs: number, lifetimeMs: number): boolean =>
      nowMs - issuedAtMs >= lifetimeMs * REMEMBERED_LIFETIMES;
    purge(
      credentials.codes,
      (code) => longAgo(code.issuedAtMs, limits.codeLifetimeMs) && !behaviour.codeIsAlive(code, context),
    );
    purge(
      credentials.refreshTokens,
      (token) =>
        longAgo(token.issuedAtMs, limits.refreshTokenLifetimeMs) &&
        !behaviour.refreshTokenIsAlive(token, context),
    );
    purge(
      credentials.accessTokens,
      (token) => longAgo(token.issuedAtMs, token.lifetimeMs) && !behaviour.accessTokenIsAlive(token, context),
    );
  };
};
