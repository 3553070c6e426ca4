import { credentialsOf } from "../answers.ts";
import { obtainTokens, opens, refreshBody, refreshes } from "../steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import type { Depositable } from "./depositable.ts";
import { agesFor, windowMs } from "./entries.ts";
import { toldBy } from "./session.ts";

/** What a later run needs of a refresh token, as it is locked away. */
interface Kept {
  readonly clientId: string;
  readonly refreshToken: string;
}

const issue: Depositable["issue"] = async (world) => {
  const { client, refreshToken, answer } = await obtainTokens(world);
  const kept: Kept = { clientId: client.id, refreshToken };
  return { secret: JSON.stringify(kept), issued: toldBy(answer, world.ledgerNowMs?.() ?? 0) };
};

const opened = (world: World, secret: string): { readonly client: Client; readonly refreshToken: string } => {
  const { clientId, refreshToken } = JSON.parse(secret) as Kept;
  const client = [world.client, world.secondClient].find((one) => one?.id === clientId);
  return { client: client ?? world.client, refreshToken };
};

const alive: Depositable["alive"] = (world, secret) => {
  const { client, refreshToken } = opened(world, secret);
  return refreshes(world, client, refreshToken);
};

const lifetimeMs = ({ limits }: World): number => limits.refreshTokenLifetimeMs;
const ages: Depositable["ages"] = (livesMs, world) => agesFor(livesMs, world.tolerances.lifetimeGuardMs);

/** Refresh tokens on both sides of their 30 days (sections 2.2 and 3.2). */
export const refreshTokens: Depositable = {
  subject: "refreshToken",
  lifetimeMs,
  ages,
  issue,
  alive,
  nearMs: windowMs,
};

/** The same with use on the way, which must not lengthen the 30 days. */
export const refreshTokensInUse: Depositable = {
  ...refreshTokens,
  subject: "refreshToken in use",
  use: async (world, secret) => void (await alive(world, secret)),
};

/** A refresh once the access token of the same exchange has expired (section 5.1): any time before the 30 days are over will do. */
export const refreshTokensOfExpired: Depositable = {
  subject: "refreshToken whose accessToken has expired",
  lifetimeMs,
  issue,
  alive,
  ages: (livesMs, world) => [
    {
      side: "alive",
      fromMs: world.accessLifetimeMs + world.tolerances.lifetimeGuardMs,
      untilMs: livesMs - world.tolerances.lifetimeGuardMs,
    },
  ],
  promise: () => "a refresh works once the accessToken has expired",
};

/** After the end a new authorization works, and the old token stays dead (sections 3.2 and 5.3). */
export const refreshTokensReplaced: Depositable = {
  subject: "refreshToken after which the client authorizes anew",
  lifetimeMs,
  issue,
  ages: (livesMs, world) => [
    {
      side: "dead",
      fromMs: livesMs + world.tolerances.lifetimeGuardMs,
      untilMs: 2 * livesMs,
    },
  ],
  alive: async (world, secret) => {
    const { client, refreshToken } = opened(world, secret);
    const anew = await obtainTokens(world, { client });
    if (!(await opens(world, anew.accessToken))) return true;
    return (
      credentialsOf(await world.target.refresh(refreshBody(client, refreshToken))).accessToken !== undefined
    );
  },
  promise: () =>
    "once the refreshToken is invalid, authorizing anew yields tokens that work, and the old one stays invalid",
};
