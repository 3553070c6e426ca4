import type { ExpiringCredential } from "../checks/rule.ts";
import { between } from "../judging/lifetimes/entries.ts";
import { freshRefreshTokenWorks } from "../world/controls.ts";
import { credentialsOf } from "../world/exchange.ts";
import { obtainTokens, opens, present, refreshBody, type IssuedTokens } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { answerOrHangUp } from "../world/target.ts";

export type Refreshable = Pick<IssuedTokens, "client" | "refreshToken">;

/** Those whose last refresh was granted, but with an accessToken that does not work. */
const granted = new WeakSet<Refreshable>();

export const alive = async (world: World, token: Refreshable): Promise<boolean> => {
  const { client, refreshToken } = token;
  const { accessToken } = credentialsOf(await world.target.refresh(refreshBody(client, refreshToken)));
  granted.delete(token);
  if (accessToken === undefined) return false;
  if (await opens(world, accessToken)) return true;
  granted.add(token);
  return false;
};

/** How any refreshToken is probed. */
export const untilRefused = {
  alive,
  control: freshRefreshTokenWorks,
  inVain: (token: Refreshable) =>
    granted.has(token) ? "refreshed to an accessToken that does not open the list," : undefined,
};

type Refreshing = ExpiringCredential<Refreshable>;

/** Refresh tokens on both sides of their 30 days (sections 2.2 and 3.2). */
export const refreshTokens: Refreshing = {
  name: "refreshToken",
  lifetimeMs: ({ limits }) => limits.refreshTokenLifetimeMs,
  ...untilRefused,
  issue: async (world) => {
    const { client, refreshToken } = await obtainTokens(world);
    return { client, refreshToken };
  },
};

/** The same with use in between, which must not extend the 30 days. */
export const refreshTokensInUse: Refreshing = {
  ...refreshTokens,
  name: "refreshToken in use",
  use: async (world, token) => {
    await alive(world, token);
    // Another grant of the same client must not extend them either.
    await obtainTokens(world, { client: token.client });
  },
};

/** A refresh once the access token of the same exchange has expired (section 5.1), at any time within the 30 days. */
export const refreshTokensOfExpired: Refreshing = {
  ...refreshTokens,
  name: "refreshToken whose accessToken has expired",
  laterOnly: {
    step: (lifetimeMs, guardMs, { prepared }) =>
      between(prepared.accessLifetimeMs + guardMs, lifetimeMs - guardMs, lifetimeMs, guardMs),
    promise: "a refresh works once the accessToken has expired",
  },
};

/** After the end, a new authorization works and the old token stays dead (sections 3.2 and 5.3). */
export const refreshTokensReplaced: Refreshing = {
  ...refreshTokens,
  name: "refreshToken after which the client authorizes again",
  alive: async (world, { client, refreshToken }) => {
    const anew = await obtainTokens(world, { client });
    if (!(await opens(world, anew.accessToken))) return true;
    const again = await world.target.refresh(refreshBody(client, refreshToken));
    return credentialsOf(again).accessToken !== undefined;
  },
  laterOnly: {
    step: (lifetimeMs, guardMs) => between(lifetimeMs + guardMs, 2 * lifetimeMs, lifetimeMs, guardMs),
    promise:
      "once the refreshToken is invalid, authorizing again yields tokens that work, and the old one stays invalid",
  },
};

/** Refreshes that must be refused although they name a live refreshToken, or almost; by what is wrong with them. */
const wrongRefreshes: Readonly<Record<string, (world: World, tokens: IssuedTokens) => object>> = {
  "an unknown client": (world, { refreshToken }) => ({ clientId: world.target.unique(), refreshToken }),
  "no client": (_world, { refreshToken }) => ({ refreshToken }),
  "an empty client": (_world, { refreshToken }) => ({ clientId: "", refreshToken }),
  "the client in an array": (_world, { client, refreshToken }) => ({ clientId: [client.id], refreshToken }),
  "the refreshToken in an array": (_world, { client, refreshToken }) => ({
    clientId: client.id,
    refreshToken: [refreshToken],
  }),
  "a changed refreshToken": ({ secrets }, { client, refreshToken }) =>
    refreshBody(client, secrets.derive(refreshToken, `${refreshToken}x`, "one character more")),
  "no refreshToken": (_world, { client }) => ({ clientId: client.id }),
};

/** Makes every such attempt, also as another client, and presents the token as a code too. */
export const refreshWrongly = async (world: World, tokens: IssuedTokens): Promise<void> => {
  for (const body of Object.values(wrongRefreshes))
    await answerOrHangUp(world.target.refresh(body(world, tokens)));
  const { secondClient } = world;
  if (secondClient !== undefined)
    await answerOrHangUp(world.target.refresh(refreshBody(secondClient, tokens.refreshToken)));
  const { client, refreshToken } = tokens;
  await present(world, client, refreshToken);
};
