import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import type { Exchange } from "./exchange.ts";
import { mayHaveEnded, type Issue } from "./issue.ts";
import { grantOf, judgeAuthorization } from "./oracles/authorize.ts";
import { judgeTokenSet, tokensOf, type Tokens } from "./oracles/tokens.ts";
import { requests, type IterationContext } from "./iteration.ts";
import { issued, report } from "./report.ts";
import { send, sendTogether } from "./send.ts";
import { settings } from "./settings.ts";

export interface IssuedCode {
  readonly client: ScriptClient;
  readonly code: string;
  readonly issue: Issue;
}

/** Requests a code and judges the answer; undefined if no reliable code was received. */
export const obtainCode = (
  context: IterationContext,
  client = context.someClient(),
): IssuedCode | undefined => {
  const asked = { client, state: context.freshState(), askedAtMs: epochMs() };
  return takeCode(asked, send(requests.authorize(client, asked.state)));
};

interface AskedCode {
  readonly client: ScriptClient;
  readonly state: string;
  readonly askedAtMs: number;
}

const takeCode = (
  { client, state, askedAtMs }: AskedCode,
  answer: Exchange,
  others?: readonly string[],
): IssuedCode | undefined => {
  report(judgeAuthorization(answer, state, others), [answer]);
  const grant = grantOf(answer);
  if (grant === undefined) return undefined;
  issued("code", grant.code);
  // A code returned with a foreign state may belong to another client, so its fate says nothing about codes.
  if (grant.state !== state) return undefined;
  return { client, code: grant.code, issue: { askedAtMs, lifetimeMs: settings.limits.codeLifetimeMs } };
};

/** Requests several codes concurrently, each with its own state: answers must not be mixed up. */
export const obtainCodesTogether = (context: IterationContext, count: number): readonly IssuedCode[] => {
  const askedAtMs = epochMs();
  const asked = Array.from({ length: count }, (): AskedCode => ({
    client: context.someClient(),
    state: context.freshState(),
    askedAtMs,
  }));
  const answers = sendTogether(asked.map(({ client, state }) => requests.authorize(client, state)));
  const states = asked.map(({ state }) => state);
  return asked.flatMap((one, index) => takeCode(one, answers[index] as Exchange, states) ?? []);
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
