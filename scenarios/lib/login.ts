import type { ScriptClient } from "../protocol.ts";
import { grantOf, judgeAuthorization } from "./oracles/authorize.ts";
import { judgeTokenSet, tokensOf, type Tokens } from "./oracles/tokens.ts";
import { requests, type Play } from "./play.ts";
import { issued, report } from "./report.ts";
import { send, sendTogether } from "./send.ts";

/** A code and the client that it was issued to. */
export interface IssuedCode {
  readonly client: ScriptClient;
  readonly code: string;
}

/** Asks for a code and judges the answer; undefined where none came. */
export const obtainCode = (play: Play, client = play.someClient()): IssuedCode | undefined => {
  const state = play.freshState();
  const answer = send(requests.authorize(client, state));
  report(judgeAuthorization(answer, state), [answer]);
  const code = grantOf(answer)?.code;
  if (code === undefined) return undefined;
  issued("code", code);
  return { client, code };
};

/** Asks for several codes at once, each with a state of its own: an answer must not go to another request. */
export const obtainCodesTogether = (play: Play, count: number): readonly (IssuedCode | undefined)[] => {
  const asked = Array.from({ length: count }, () => ({
    client: play.someClient(),
    state: play.freshState(),
  }));
  const answers = sendTogether(asked.map(({ client, state }) => requests.authorize(client, state)));
  const states = asked.map(({ state }) => state);
  return asked.map(({ client, state }, index) => {
    const answer = answers[index];
    if (answer === undefined) return undefined;
    report(judgeAuthorization(answer, state, states), [answer]);
    const code = grantOf(answer)?.code;
    if (code === undefined) return undefined;
    issued("code", code);
    return { client, code };
  });
};

export type ExchangedTokens = Tokens & { readonly refreshToken: string };

/** Exchanges a fresh code and judges the answer; undefined where no whole token set came. */
export const redeem = ({ client, code }: IssuedCode): ExchangedTokens | undefined => {
  const answer = send(requests.exchange(client, code));
  report(judgeTokenSet(answer), [answer]);
  const tokens = tokensOf(answer);
  if (tokens !== undefined) tellIssued(tokens);
  return tokens;
};

/** Exchanges several fresh codes at once. */
export const redeemTogether = (codes: readonly IssuedCode[]): readonly (ExchangedTokens | undefined)[] =>
  sendTogether(codes.map(({ client, code }) => requests.exchange(client, code))).map((answer) => {
    report(judgeTokenSet(answer), [answer]);
    const tokens = tokensOf(answer);
    if (tokens !== undefined) tellIssued(tokens);
    return tokens;
  });

export const tellIssued = (tokens: ExchangedTokens): void => {
  issued("accessToken", tokens.accessToken);
  issued("refreshToken", tokens.refreshToken);
};
