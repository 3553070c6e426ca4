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
export const obtainCodesTogether = (
  context: IterationContext,
  count: number,
): readonly (IssuedCode | undefined)[] => {
  const asked = Array.from({ length: count }, () => ({
    client: context.someClient(),
    state: context.freshState(),
  }));
  const answers = sendTogether(asked.map(({ client, state }) => requests.authorize(client, state)));
  const states = asked.map(({ state }) => state);
  return asked.map(({ client, state }, index) => {
    const answer = answers[index];
    return answer === undefined ? undefined : takeCode(client, answer, state, states);
  });
};

export type ExchangedTokens = Tokens & { readonly refreshToken: string };

export const redeem = ({ client, code }: IssuedCode): ExchangedTokens | undefined =>
  takeTokens(send(requests.exchange(client, code)));

const takeTokens = (answer: Exchange): ExchangedTokens | undefined => {
  report(judgeTokenSet(answer), [answer]);
  const tokens = tokensOf(answer);
  if (tokens !== undefined) tellIssued(tokens);
  return tokens;
};

export const redeemTogether = (codes: readonly IssuedCode[]): readonly (ExchangedTokens | undefined)[] =>
  sendTogether(codes.map(({ client, code }) => requests.exchange(client, code))).map(takeTokens);

export const tellIssued = (tokens: ExchangedTokens): void => {
  issued("accessToken", tokens.accessToken);
  issued("refreshToken", tokens.refreshToken);
};
