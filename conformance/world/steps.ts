import { sleepFrom, type Clock } from "./clock.ts";
import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import type { Grant } from "../judging/laws/grant.ts";
import { gavePage } from "../judging/laws/pages.ts";
import { tokenSetBreach } from "../judging/laws/tokens.ts";
import {
  credentialsOf,
  describe,
  grantOf,
  objectOf,
  plainOf,
  showsSomething,
  ControlFailed,
  TransportError,
  mayBeGateways,
  type Answer,
} from "./exchange.ts";
import { beginAnew, retryPolicy } from "./http/retry.ts";
import { answerOrHangUp, type AuthorizeRequest, type Client, type Target } from "./target.ts";
import { clientsOf, type World } from "./world.ts";

export interface IssuedCode {
  readonly code: string;
  readonly client: Client;
  readonly grant: Grant;
  readonly answer: Answer;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInMs: number;
  readonly client: Client;
  readonly code: string;
  readonly answer: Answer;
}

/** Target and client of a step; by default the world's target and its first client. */
export interface StepOptions {
  readonly client?: Client | undefined;
  readonly target?: Target | Omit<Target, "dedicated">;
  readonly authorize?: AuthorizeRequest;
}

/** Makes a valid authorization and returns the code. If the service issues none, the control failed, not the probe. */
export const obtainCode = async (world: World, options: StepOptions = {}): Promise<IssuedCode> => {
  const client = options.client ?? world.client;
  const answer = await (options.target ?? world.target).authorize({ client, ...options.authorize });
  const grant = grantOf(answer);
  if (grant === undefined)
    throw new ControlFailed(`a valid authorize request got no code: ${describe(answer)}`);
  return { code: grant.code, client, grant, answer };
};

/** Body of a token exchange (section 4.2), valid if the code is. */
export const exchangeBody = <C>(client: Client, code: C) => ({
  clientId: client.id,
  clientSecret: client.secret,
  code,
});

/** The other client of the run, for what compares two. Throws ControlFailed if there is none. */
export const secondClientOf = ({ secondClient }: World): Client => {
  if (secondClient === undefined) throw new ControlFailed("there is no second client");
  return secondClient;
};

export const refreshBody = (client: Client, refreshToken: string): Record<string, string> => ({
  clientId: client.id,
  refreshToken,
});

/** The error if a step gave nothing. A gateway's answer counts as lost, because the service may have done it. */
export const withoutYield = (answer: Answer, what: string): Error => {
  const message = `${what}: ${describe(answer)}`;
  return mayBeGateways(answer)
    ? new TransportError(answer.exchange, "closed", message)
    : new ControlFailed(message);
};

/** Exchanges a code validly. If the service issues no tokens, the control failed. */
export const redeem = async (
  world: World,
  code: string,
  options: Pick<StepOptions, "client" | "target"> = {},
): Promise<IssuedTokens> => {
  const client = options.client ?? world.client;
  const answer = await (options.target ?? world.target).exchange(exchangeBody(client, code));
  const { accessToken, refreshToken, expiresIn } = credentialsOf(answer);
  if (accessToken === undefined || refreshToken === undefined)
    throw withoutYield(answer, "a valid exchange got no tokens");
  const breach = tokenSetBreach("exchange", objectOf(answer));
  if (breach !== undefined) world.evidence.malformedTokenSets.push(breach);
  return { accessToken, refreshToken, expiresInMs: Number(expiresIn) * 1_000, client, code, answer };
};

/**
 * The whole flow: authorize, then exchange. If the answer to the exchange is lost, the code may or may not be used up:
 * it is never sent again, and the flow starts over with another code.
 */
export const obtainTokens = async (world: World, options: StepOptions = {}): Promise<IssuedTokens> => {
  let { code } = await obtainCode(world, options);
  return beginAnew(
    () => redeem(world, code, options),
    async ({ exchange }) => {
      world.evidence.ignoreLoss(exchange);
      ({ code } = await obtainCode(world, options));
    },
  );
};

/** Makes a valid refresh and returns the new access token with its lifetime. */
export const obtainRefreshed = async (
  world: World,
  tokens: Pick<IssuedTokens, "client" | "refreshToken">,
): Promise<{ accessToken: string; expiresInMs: number; answer: Answer }> => {
  const answer = await world.target.refresh(refreshBody(tokens.client, tokens.refreshToken));
  const { accessToken, expiresIn } = credentialsOf(answer);
  if (accessToken === undefined) throw withoutYield(answer, "a valid refresh got no access token");
  return { accessToken, expiresInMs: Number(expiresIn) * 1_000, answer };
};

/** The answer to a refresh. A refreshToken may be used any number of times, so one whose outcome is unknown is repeated. */
export const refreshSurely = async (
  world: World,
  { client, refreshToken }: Pick<IssuedTokens, "client" | "refreshToken">,
  target: Pick<Target, "refresh"> = world.target,
): Promise<Answer> => {
  const refresh = (): Promise<Answer> =>
    beginAnew(
      () => target.refresh(refreshBody(client, refreshToken)),
      ({ exchange }) => world.evidence.ignoreLoss(exchange),
    );
  for (let tries = 1; ; tries += 1) {
    const answer = await refresh();
    if (!mayBeGateways(answer) || tries === retryPolicy.mostBeginnings) return answer;
    world.evidence.ignoreLoss(answer.exchange);
  }
};

export const gaveData = (answer: Answer): boolean => gavePage(plainOf(answer));

/** Whether an empty page says that its token works; as a stranger's shows, it may not. */
export const admitsByEmptyPage = ({ prepared: { emptyPage } }: World): boolean => {
  if (emptyPage === "undecided")
    throw new ControlFailed(
      "an accessToken that was never issued gets an empty page, as does a proper one of a client without notifications, so an empty page does not tell whether a token works",
    );
  return emptyPage === undefined;
};

/** Whether the token opens the list. Throws ControlFailed as `isShownData` does. */
export const opens = async (world: World, accessToken: string): Promise<boolean> =>
  (await tryToOpen(world, accessToken)).isOpen;

/** The same, with the answer that shows it. */
export const tryToOpen = async (
  world: World,
  accessToken: string,
): Promise<{ readonly isOpen: boolean; readonly answer: Answer }> => {
  const look = (): Promise<Answer> => world.target.list({ accessToken, query: { limit: 1 } });
  const answer = await look();
  if (await isShownData(world, answer)) return { isOpen: true, answer };
  // What the control was shown may have been created since.
  const mayBeOpen = world.prepared.emptyPage === "refusal" && gaveData(answer);
  return { isOpen: mayBeOpen && showsSomething(await look()), answer };
};

/**
 * Whether a list shows data to the token it was asked with. Throws ControlFailed where it may have been refused because
 * it holds nothing, which section 4.4 leaves open: no list was shown before, no notification is known, and a proper
 * token is refused it too.
 */
export const isShownData = async (world: World, answer: Answer): Promise<boolean> => {
  if (gaveData(answer)) {
    if (showsSomething(answer) || admitsByEmptyPage(world)) return true;
    await clientsAreShownSomething(world);
    return false;
  }
  await refusalIsOfToken(world);
  return false;
};

/** The control where strangers get an empty page: once a client's notifications are listed no longer, so does the client. */
const clientsAreShownSomething = async (world: World): Promise<void> => {
  for (const client of clientsOf(world)) {
    const { accessToken } = await obtainTokens(world, { client });
    if (!showsSomething(await world.target.list({ accessToken, query: { limit: 1 } }))) throw noLongerShown();
  }
};

export const noLongerShown = (): ControlFailed =>
  new ControlFailed(
    "an accessToken that was never issued gets an empty page, and a proper one gets no more by now, so an empty page does not tell whether a token works",
  );

export const refusalIsOfToken = async (world: World): Promise<void> => {
  const { isListShown, refusesNothing, notifications } = world.prepared;
  if (refusesNothing === true || (isListShown !== true && notifications.accounts.length === 0))
    await properTokenOpens(world);
};

/** Whether the refresh token yields an access token that opens the list. */
export const refreshes = async (world: World, client: Client, refreshToken: string): Promise<boolean> => {
  const { accessToken } = credentialsOf(await world.target.refresh(refreshBody(client, refreshToken)));
  return accessToken !== undefined && (await opens(world, accessToken));
};

/**
 * The usable credential that a token answer yielded; undefined means a refusal, whatever its status. A token counts
 * only if it works, so an error body that happens to have such a field is a refusal, and a 400 with a live token is
 * not.
 */
export const yielded = async (
  world: World,
  answer: Answer | undefined,
  client: Client = world.client,
): Promise<"accessToken" | "refreshToken" | undefined> => {
  if (answer === undefined) return undefined;
  const { accessToken, refreshToken } = credentialsOf(answer);
  if (accessToken !== undefined && (await opens(world, accessToken))) return "accessToken";
  if (refreshToken !== undefined && (await refreshes(world, client, refreshToken))) return "refreshToken";
  if (accessToken !== undefined) await properTokenOpens(world);
  return undefined;
};

/** The runs, by what was prepared for them, in which a proper token has opened the list, for good. */
const opened = new WeakSet<World["prepared"]>();

/** The control: if not even a proper token opens the list, nobody knows whether another token works. */
const properTokenOpens = async (world: World): Promise<void> => {
  if (opened.has(world.prepared)) return;
  // A list of nothing may be refused by now, for either client.
  const isBrief = world.prepared.refusesNothing === true;
  for (const client of isBrief ? clientsOf(world) : [world.client]) {
    const { accessToken } = await obtainTokens(world, { client });
    const listing = await world.target.list({ accessToken, query: { limit: 1 } });
    if (!gaveData(listing))
      throw new ControlFailed(
        `even the accessToken of a valid exchange gets no page with limit=1: ${describe(listing)}`,
      );
  }
  if (!isBrief) opened.add(world.prepared);
};

/**
 * The answer to a probe that may be refused; undefined if the service hangs up on it twice. Once is not enough: an idle
 * connection may be closed just as the request leaves, which would look like a refusal.
 */
export const answerOrRefusal = async (send: () => Promise<Answer>): Promise<Answer | undefined> =>
  (await answerOrHangUp(send())) ?? answerOrHangUp(send());

/** Presents something as a code; undefined if the service hangs up. */
export const present = (world: World, client: Client, code: unknown): Promise<Answer | undefined> =>
  answerOrHangUp(world.target.exchange(exchangeBody(client, code)));

/** The usable credential that presenting something as a code yields. */
export const gainBy = async (world: World, client: Client, code: unknown): ReturnType<typeof yielded> =>
  yielded(world, await present(world, client, code), client);

/** Whether its own client can exchange the code now. Uses it up. */
export const exchangeable = async (
  world: World,
  { client, code }: Pick<IssuedCode, "client" | "code">,
): Promise<boolean> => (await gainBy(world, client, code)) !== undefined;

/** Whether an authorize answer yielded an exchangeable code. Uses the code up. */
export const yieldedCode = async (
  world: World,
  answer: Answer | undefined,
  client: Client = world.client,
): Promise<boolean> => {
  const grant = answer === undefined ? undefined : grantOf(answer);
  if (grant === undefined) return false;
  const redeemed = await world.target.exchange(exchangeBody(client, grant.code));
  return (await yielded(world, redeemed, client)) !== undefined;
};

/** Does something and returns the interval of the target's time in which it happened; `now` is a reading just before it. */
export const timed = async <T>(
  world: { readonly clock: Pick<Clock, "now"> },
  action: () => Promise<T>,
  now?: TimeInterval,
): Promise<{ value: T; at: TimeInterval }> => {
  const { earliestMs } = now ?? (await world.clock.now());
  const value = await action();
  return { value, at: { earliestMs, latestMs: (await world.clock.now()).latestMs } };
};

/** Sleeps until this much of the target's time has certainly passed since something was done. */
export const sleepSince = async (
  world: World,
  done: TimeInterval,
  durationMs: number,
  slackMs = 0,
): Promise<void> => {
  const now = await world.clock.now();
  const { leastMs } = ageBetween(done, now);
  if (durationMs > leastMs) await sleepFrom(world.clock, now, durationMs - leastMs, slackMs);
};
