import type { ExpiringCredential } from "../checks/rule.ts";
import { between } from "../judging/lifetimes/entries.ts";
import { freshRefreshTokenWorks } from "../world/controls.ts";
import { credentialsOf } from "../world/exchange.ts";
import { obtainTokens, opens, present, refreshBody, type IssuedTokens } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { answerOrHangUp } from "../world/target.ts";
import { noClients, noTokens, theOther } from "./token-rows.ts";

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

/** Makes refreshes that must be refused although they name a live refreshToken, or almost; and presents it as a code. */
export const refreshWrongly = async (world: World, tokens: IssuedTokens): Promise<void> => {
  const { client, refreshToken } = tokens;
  const right = { ...tokens, body: refreshBody(client, refreshToken) };
  const rows = [...noClients, ...noTokens, ...(world.secondClient === undefined ? [] : theOther)];
  for (const { of } of rows) {
    const body = await of(right, world);
    if (body !== undefined) await answerOrHangUp(world.target.refresh(body));
  }
  await present(world, client, refreshToken);
};
