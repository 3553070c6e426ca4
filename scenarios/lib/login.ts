import type { ScriptClient } from "../protocol.ts";
import type { Exchange } from "./exchange.ts";
import { grantOf, judgeAuthorization } from "./oracles/authorize.ts";
import { judgeTokenSet, tokensOf, type Tokens } from "./oracles/tokens.ts";
import { requests, type IterationContext } from "./iteration.ts";
import { issued, report } from "./report.ts";
import { send, sendTogether } from "./send.ts";

export interface IssuedCode {
  readonly client: ScriptClient;
  readonly code: string;
}

/** Requests a code and judges the answer; undefined if no reliable code was received. */
export const obtainCode = (
  context: IterationContext,
  client = context.someClient(),
): IssuedCode | undefined => {
  const state = context.freshState();
  return takeCode(client, send(requests.authorize(client, state)), state);
};

const takeCode = (
  client: ScriptClient,
  answer: Exchange,
  state: string,
  others?: readonly string[],
): IssuedCode | undefined => {
  report(judgeAuthorization(answer, state, others), [answer]);
  const grant = grantOf(answer);
  if (grant === undefined) return undefined;
  issued("code", grant.code);
  // A code returned with a foreign state may belong to another client, so its fate says nothing about codes.
  return grant.state === state ? { client, code: grant.code } : undefined;
};

/** Requests several codes concurrently, each with its own state: answers must not be mixed up. */
export const obtainCodesTogether = (context: IterationContext, count: number): readonly IssuedCode[] => {
  const asked = Array.from({ length: count }, () => ({
    client: context.someClient(),
    state: context.freshState(),
  }));
  const answers = sendTogether(asked.map(({ client, state }) => requests.authorize(client, state)));
  const states = asked.map(({ state }) => state);
  return asked.flatMap(
    ({ client, state }, index) => takeCode(client, answers[index] as Exchange, state, states) ?? [],
  );
};

/** A code, and the tokens that its exchange brought. */
export interface Redeemed extends IssuedCode {
  readonly tokens: Tokens & { readonly refreshToken: string };
}

export const redeem = (code: IssuedCode): Redeemed | undefined => redeemTogether([code])[0];

/** Exchanges several codes concurrently. Those that brought no tokens are missing. */
export const redeemTogether = (codes: readonly IssuedCode[]): readonly Redeemed[] => {
  const answers = sendTogether(codes.map(({ client, code }) => requests.exchange(client, code)));
  return codes.flatMap((code, index) => {
    const answer = answers[index] as Exchange;
    report(judgeTokenSet(answer), [answer]);
    const tokens = tellIssued(answer);
    return tokens === undefined ? [] : { ...code, tokens };
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
