import { epochMs } from "./lib/clock.ts";
import type { Check, Exchange } from "./lib/exchange.ts";
import { mayHaveEnded, type Issue } from "./lib/issue.ts";
import {
  obtainCode,
  obtainCodesTogether,
  redeem,
  redeemTogether,
  tellIssued,
  type IssuedCode,
  type Redeemed,
} from "./lib/session.ts";
import { drawKind, tokenKinds } from "./lib/mix.ts";
import {
  judgeForged,
  judgeKeptOut,
  judgeOneOpens,
  judgeOpens,
  judgeRace,
  judgeRefresh,
  judgeReuse,
  judgeTokenSet,
  judgeWrongSecret,
  refreshedOf,
  tokensOf,
  type Tokens,
} from "./lib/oracles/tokens.ts";
import { pageOf, type ListQuery } from "./lib/oracles/pages.ts";
import { requests, type IterationContext, scenario } from "./lib/iteration.ts";
import { preflightTokens } from "./lib/preflight.ts";
import { audience } from "./lib/reading.ts";
import { issued, report } from "./lib/report.ts";
import { send, sendTogether } from "./lib/send.ts";
import type { ScriptClient } from "./protocol.ts";

/* The token endpoints: authorize, exchange, refresh. A share of the iterations attacks the rules. */

const courses: Readonly<Record<keyof typeof tokenKinds, (context: IterationContext) => void>> = {
  login: (context) => {
    const login = logIn(context);
    if (login === undefined) return;
    // Concurrently, so that one of them uses another connection than the exchange.
    const use = useOf(login.client, login.tokens.accessToken, login.access);
    for (const listing of sendTogether([use.request, use.request]))
      report(use.judge("exchange.access-token-works", listing), [listing]);
    const askedAtMs = epochMs();
    const refreshed = refresh(login);
    if (refreshed === undefined) return;
    const access = { askedAtMs, lifetimeMs: refreshed.expiresInMs };
    const again = useOf(login.client, refreshed.accessToken, access);
    const listing = send(again.request);
    report(again.judge("refresh.access-token-works", listing), [listing]);
  },

  refreshesAtOnce: (context) => {
    const login = logIn(context);
    if (login === undefined) return;
    const { client, tokens } = login;
    const request = requests.refresh(client, tokens.refreshToken);
    const mayBeNothing = audience.mayBeNothing(client.id, firstOfAll);
    const askedAtMs = epochMs();
    const answers = sendTogether([request, request]);
    const refreshed = answers.flatMap((answer) => tellRefreshed(login, answer) ?? []);
    // A service that revokes the previous token may refuse one of them: that is not a failure.
    const listings = refreshed.map(({ accessToken }) => send(requests.list(accessToken, firstOfAll, true)));
    const nowMs = epochMs();
    const someMayHaveEnded = refreshed.some(({ expiresInMs }) =>
      mayHaveEnded({ askedAtMs, lifetimeMs: expiresInMs }, nowMs),
    );
    if (!mayBeNothing && !someMayHaveEnded)
      report(judgeOneOpens(answers, listings), [...answers, ...listings]);
    refresh(login);
  },

  crowd: (context) => {
    // Concurrent writes of such marks may undo each other.
    const used = redeemTogether(obtainCodesTogether(context, 3));
    const again = used[context.random.below(used.length)];
    if (again !== undefined) presentAgain([again]);
  },

  race: (context) => {
    const issuedCode = obtainCode(context);
    if (issuedCode === undefined) return;
    const request = requests.exchange(issuedCode.client, issuedCode.code, true);
    const contenders = sendTogether([request, request, request]);
    report(judgeRace(contenders), contenders);
    const winner = contenders.find((contender) => tokensOf(contender) !== undefined);
    if (winner !== undefined) tellIssued(winner);
  },

  reuse: (context) => {
    // Taken before its own code is stored: the code presented here was used a while ago.
    const earlier = takeUsed();
    const login = logIn(context);
    if (login === undefined) return;
    presentAgain([login, login, ...(earlier === undefined ? [] : [earlier])]);
  },

  wrongSecret: (context) => {
    const client = context.someClient();
    const [probe, twin] = [obtainCode(context, client), obtainCode(context, client)];
    if (probe === undefined || twin === undefined) return;
    const liar = { ...client, secret: client.secret.slice(0, -1) };
    const wrong = send(requests.exchange(liar, probe.code, true));
    const control = send(requests.exchange(client, twin.code));
    const isLate = mayHaveEnded(twin.issue, epochMs());
    report([...judgeTokenSet(control, isLate), ...judgeWrongSecret(wrong, control)], [wrong, control]);
    tellIssued(control);
  },

  forged: (context) => {
    const login = logIn(context);
    if (login === undefined) return;
    const { client, code, tokens } = login;
    const use = useOf(client, tokens.accessToken, login.access, {});
    const answers = sendTogether([
      requests.list(halfOf(tokens.accessToken), {}, true),
      requests.exchange(client, halfOf(code), true),
      requests.refresh(client, halfOf(tokens.refreshToken), true),
      use.request,
    ]);
    const [stranger, exchanged, refreshed, control] = answers as [Exchange, Exchange, Exchange, Exchange];
    report(
      [...use.judge("exchange.access-token-works", control), ...judgeKeptOut(stranger, control)],
      [stranger, control],
    );
    tryForged("code.unknown", exchanged);
    tryForged("refresh.unknown", refreshed);
  },
};

const firstOfAll: ListQuery = { limit: 1 };

/**
 * A list with a token, and what its answer says of the token: nothing if the token may have ended by then, nor a refusal
 * if, for all that was known before, there may have been nothing to list.
 */
const useOf = (client: ScriptClient, accessToken: string, access: Issue, query = firstOfAll) => {
  const mayBeNothing = audience.mayBeNothing(client.id, query);
  return {
    request: requests.list(accessToken, query, mayBeNothing || mayHaveEnded(access, epochMs())),
    judge: (rule: Parameters<typeof judgeOpens>[0], listing: Exchange): readonly Check[] => {
      const page = pageOf(listing);
      if (page !== undefined) audience.shows(client.id, page);
      const saysNothing = mayHaveEnded(access, epochMs()) || (mayBeNothing && page === undefined);
      return saysNothing ? [] : judgeOpens(rule, listing);
    },
  };
};

/** Half a credential is none, whereas the last character of an encoded one may carry nothing. */
const halfOf = (credential: string): string => credential.slice(0, Math.floor(credential.length / 2));

/** Judges what a forged credential got; a token that it got must not work. */
const tryForged = (rule: Parameters<typeof judgeForged>[0], forged: Exchange): void => {
  const tokens = refreshedOf(forged);
  const uses = tokens === undefined ? [] : [send(requests.list(tokens.accessToken, firstOfAll, true))];
  report(judgeForged(rule, forged, uses), [forged, ...uses]);
};

interface Login extends Redeemed {
  /** Access tokens obtained with it. */
  readonly known: Set<string>;
}

const logIn = (context: IterationContext): Login | undefined => {
  const issuedCode = obtainCode(context);
  const redeemed = issuedCode && redeem(issuedCode);
  if (redeemed === undefined) return undefined;
  keepUsed(redeemed);
  return { ...redeemed, known: new Set([redeemed.tokens.accessToken]) };
};

/** Exchanges of used codes, concurrently over several connections: each must be refused. */
const presentAgain = (used: readonly IssuedCode[]): void => {
  for (const again of sendTogether(used.map(({ client, code }) => requests.exchange(client, code, true))))
    report(judgeReuse(again), [again]);
};

const refresh = (login: Login): Tokens | undefined =>
  tellRefreshed(login, send(requests.refresh(login.client, login.tokens.refreshToken)));

/** A refresh may return a live access token (section 4.3 does not say): only a different one is new. */
const tellRefreshed = (login: Login, answer: Exchange): Tokens | undefined => {
  report(judgeRefresh(answer, mayHaveEnded(login.refresh, epochMs())), [answer]);
  const tokens = refreshedOf(answer);
  if (tokens !== undefined && !login.known.has(tokens.accessToken)) {
    login.known.add(tokens.accessToken);
    issued("accessToken", tokens.accessToken);
  }
  return tokens;
};

export const token = scenario({
  preflight: preflightTokens,
  iteration: (context) => courses[drawKind(tokenKinds, context.random)](context),
});

const MOST = 20;

/**
 * Used codes of this virtual user's earlier iterations, oldest first. None of their tokens is still in use. Unlike
 * everything else, which codes these are depends on which iterations k6 gave to this user.
 */
const kept: IssuedCode[] = [];

const keepUsed = ({ client, code, issue }: IssuedCode): void => {
  if (kept.length < MOST) kept.push({ client, code, issue });
};

/** The oldest one, returned once; undefined if there is none yet. */
const takeUsed = (): IssuedCode | undefined => kept.shift();
