import { pageOf } from "../answers.ts";
import { judgeLifetime, roomAfter, type Mortal } from "../lifetime.ts";
import type { Rules } from "../rule.ts";
import {
  gaveData,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  redeem,
  timed,
  type IssuedTokens,
} from "../steps.ts";
import { ControlFailed, type Bracket } from "../world/exchange.ts";
import type { World } from "../world/world.ts";

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
    waitsMs: ({ accessLifetimeMs, limits, tolerances }) =>
      accessLifetimeMs * 2.2 + limits.codeLifetimeMs + roomAfter({ tolerances }),
    check: (world, run) => {
      const few = run.cases(0.12, 1);
      return run.all([
        judgeLifetime(world, run, mortal(world, { name: "accessToken of an exchange", issue: exchanged })),
        judgeLifetime(world, run, mortal(world, { name: "accessToken of a refresh", issue: refreshedLater })),
        judgeLifetime(
          world,
          run,
          mortal(world, { name: "accessToken in use", issue: exchanged, use: look, perSide: few + 1 }),
        ),
        judgeLifetime(
          world,
          run,
          mortal(world, {
            name: "refreshed accessToken in use",
            issue: refreshedLater,
            use: look,
            perSide: few,
          }),
        ),
        judgeLifetime(
          world,
          run,
          mortal(world, {
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

const mortal = (
  world: World,
  differing: Pick<Mortal<Bearer>, "name" | "issue"> & Partial<Mortal<Bearer>>,
): Mortal<Bearer> => ({
  lifetimeMs: world.accessLifetimeMs,
  lifetimeOf: ({ lifetimeMs }) => lifetimeMs,
  issuedIn: ({ issued }) => issued,
  alive: isShownSomething,
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
const exchanged = async (world: World): Promise<Bearer> => {
  const { code } = await obtainCode(world);
  await world.clock.sleep(world.limits.codeLifetimeMs / 2);
  await world.clock.beginSecond(world.limits.codeLifetimeMs / 4);
  const { value, at } = await timed(world, () => redeem(world, code));
  return bearer(value, value, at);
};

/** The time begins with the refresh: half of the first token's life lies between the two. */
const refreshedLater = async (world: World): Promise<Bearer> => {
  const tokens = await obtainTokens(world);
  const livesMs = Math.min(tokens.expiresInMs, world.limits.refreshTokenLifetimeMs) || 0;
  await world.clock.sleep(livesMs / 2);
  await world.clock.beginSecond(livesMs / 4);
  const { value, at } = await timed(world, () => obtainRefreshed(world, tokens));
  return bearer(tokens, value, at);
};

/** Lists what is known to be there, so that an empty envelope is not taken for an answer; anything where nothing is known. */
const isShownSomething = async (world: World, { accessToken }: Bearer): Promise<boolean> => {
  const known = world.notifications.accounts[0];
  if (known === undefined) return gaveData(await world.target.list({ accessToken, query: { limit: 1 } }));
  const page = pageOf(
    await world.target.list({ accessToken, query: { accountId: known.accountId, limit: 1 } }),
  );
  return page !== undefined && (page.items.length > 0 || (typeof page.total === "number" && page.total > 0));
};

const look = async (world: World, { accessToken }: Bearer): Promise<void> => {
  await world.target.list({ accessToken, query: { limit: 1 } });
};

const refreshGrant = async (world: World, { tokens }: Bearer): Promise<void> => {
  await world.target.refresh({ clientId: tokens.client.id, refreshToken: tokens.refreshToken });
};
