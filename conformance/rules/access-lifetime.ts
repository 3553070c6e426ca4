import type { Steps } from "../awaited/steps.ts";
import { beforeMonthEnds } from "../calendar.ts";
import { accessTokens, refreshedAccessTokens } from "../ledger/short-lived.ts";
import { judgeLifetime, roomAfter, type Mortal } from "../lifetime.ts";
import type { Rules } from "../rule.ts";
import {
  exchangeLate,
  isShownSomething,
  isShownSomethingAtOnce,
  obtainRefreshed,
  obtainTokens,
  opens,
  sleepHalfItsLife,
  timed,
  type IssuedTokens,
} from "../steps.ts";
import { ControlFailed, type Bracket } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { historyName, refreshedAsTold, refreshHistories, type RefreshHistory } from "./access-histories.ts";

/** An access token with the stretch of time in which it was issued and the lifetime that came with it. */
interface Bearer {
  readonly accessToken: string;
  readonly lifetimeMs: number;
  readonly issued: Bracket;
  readonly tokens: IssuedTokens;
}

export const accessLifetimeRules = {
  accessTokenLivesForExpiresIn: {
    requirement: "access.lifetime",
    ledger: [accessTokens, refreshedAccessTokens],
    waitsMs: ({ accessLifetimeMs, limits, tolerances }) =>
      accessLifetimeMs * 2.2 + limits.codeLifetimeMs + roomAfter({ tolerances }),
    check: async (world, run) => {
      const few = run.cases(0.12, 1);
      const second = await viewOfSecond(world);
      const mortal = mortals(world, second);
      const histories = refreshHistories(world, run);
      return run.all([
        judgeLifetime(world, run, {
          ...mortal({ name: "accessToken of an exchange", issue: exchanged }),
          alive: seenBy(world, second, isShownSomething),
        }),
        judgeLifetime(
          world,
          run,
          mortal({
            name: "accessToken of a refresh",
            ways: histories.map(historyName),
            issue: (one, steps, way) => refreshedBy(one, steps, histories[way] ?? []),
            perSide: histories.length + few,
          }),
        ),
        ...(world.clock.kind === "virtual"
          ? [
              judgeLifetime(
                world,
                run,
                mortal({
                  name: "accessToken at the end of a month",
                  startsAt: beforeMonthEnds(world.accessLifetimeMs / 2 + world.limits.codeLifetimeMs),
                  issue: exchanged,
                  perSide: 1,
                }),
              ),
            ]
          : []),
        judgeLifetime(
          world,
          run,
          mortal({ name: "accessToken in use", issue: exchanged, use: look, perSide: few + 1 }),
        ),
        judgeLifetime(
          world,
          run,
          mortal({
            name: "refreshed accessToken in use",
            issue: refreshedLater,
            use: look,
            perSide: few,
          }),
        ),
        judgeLifetime(
          world,
          run,
          mortal({
            name: "accessToken whose grant is refreshed",
            issue: exchanged,
            use: refreshGrant,
            // A refresh may end the token before it, so only its death can be demanded.
            sides: "dead",
            perSide: few,
          }),
        ),
      ]);
    },
  },
} satisfies Rules;

/** Whether an access token opens the list, in the eyes of one client. */
type View = (world: World, accessToken: string) => Promise<boolean>;

/**
 * How it shows whether a token of the second client works: what is known to be there may be the first client's alone.
 * Undefined where nothing tells it, as where a token that nobody issued is shown an empty page too.
 */
const viewOfSecond = async (world: World): Promise<View | undefined> => {
  if (world.secondClient === undefined) return undefined;
  try {
    const { accessToken } = await obtainTokens(world, { client: world.secondClient });
    if (await isShownSomethingAtOnce(world, accessToken)) return isShownSomethingAtOnce;
    return (await opens(world, world.unique())) || !(await opens(world, accessToken)) ? undefined : opens;
  } catch (error) {
    if (error instanceof ControlFailed) return undefined;
    throw error;
  }
};

/** Whether a token works, as its own client can see it. */
const seenBy =
  (world: World, second: View | undefined, view: View) =>
  (one: World, { accessToken, tokens }: Bearer): Promise<boolean> =>
    (tokens.client.id === world.client.id ? view : (second ?? view))(one, accessToken);

const mortals =
  (world: World, second: View | undefined) =>
  (differing: Pick<Mortal<Bearer>, "name" | "issue"> & Partial<Mortal<Bearer>>): Mortal<Bearer> => ({
    lifetimeMs: world.accessLifetimeMs,
    lifetimeOf: ({ lifetimeMs }) => lifetimeMs,
    issuedIn: ({ issued }) => issued,
    ...(second === undefined ? { clients: "first" } : {}),
    // That a dead token opens no other form of the list either is looked at where tokens come from an exchange.
    alive: seenBy(world, second, isShownSomethingAtOnce),
    ...differing,
  });

const bearer = (
  tokens: IssuedTokens,
  { accessToken, expiresInMs }: { accessToken: string; expiresInMs: number },
  issued: Bracket,
): Bearer => {
  if (!(expiresInMs > 0) || !Number.isFinite(expiresInMs))
    throw new ControlFailed("expiresIn is no positive number, so there is no lifetime to judge");
  return { accessToken, lifetimeMs: expiresInMs, issued, tokens };
};

/** The time begins with the exchange: a while lies between the code and the tokens. */
const exchanged = async (world: World, steps: Steps): Promise<Bearer> => {
  const { value, at } = await exchangeLate(world, steps);
  return bearer(value, value, at);
};

/** The time begins with the refresh: half of the first token's life lies between the two. */
const refreshedLater = async (world: World, steps: Steps): Promise<Bearer> => {
  const { value: tokens, at } = await steps.once("tokens", () => timed(world, () => obtainTokens(world)));
  const lifetimeMs = Math.min(tokens.expiresInMs, world.limits.refreshTokenLifetimeMs) || 0;
  if (
    !steps.has("refreshed") &&
    !(await sleepHalfItsLife(world, { at, lifetimeMs })) &&
    steps.isContinued()
  ) {
    steps.restart();
    return refreshedLater(world, steps);
  }
  const refreshed = await steps.once("refreshed", () => timed(world, () => obtainRefreshed(world, tokens)));
  return bearer(tokens, refreshed.value, refreshed.at);
};

const refreshedBy = async (world: World, steps: Steps, gaps: RefreshHistory): Promise<Bearer> => {
  const { value, at } = await refreshedAsTold(world, steps, gaps);
  return bearer(value, value, at);
};

const look = async (world: World, { accessToken }: Bearer): Promise<void> => {
  await world.target.list({ accessToken, query: { limit: 1 } });
};

const refreshGrant = async (world: World, { tokens }: Bearer): Promise<void> => {
  await world.target.refresh({ clientId: tokens.client.id, refreshToken: tokens.refreshToken });
};
