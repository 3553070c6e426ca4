import { exchangeable, isShownSomething, obtainCode, obtainRefreshed, obtainTokens } from "../steps.ts";
import { ControlFailed } from "../world/exchange.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import type { Depositable } from "./depositable.ts";
import { agesSoon, nearMs } from "./entries.ts";

const ages: Depositable["ages"] = (lifetimeMs, world) =>
  agesSoon(lifetimeMs, world.tolerances.lifetimeGuardMs);
const near: Depositable["nearMs"] = (lifetimeMs, world) =>
  nearMs(lifetimeMs, world.tolerances.lifetimeGuardMs);

/** What a later run needs of a code, as it is locked away. */
interface KeptCode {
  readonly clientId: string;
  readonly code: string;
}

const clientOf = (world: World, id: string): Client =>
  [world.client, world.secondClient].find((one) => one?.id === id) ?? world.client;

/** Codes on both sides of their 10 minutes (sections 2.1 and 3.1). An exchange uses one up. */
export const codes: Depositable = {
  subject: "code",
  lifetimeMs: ({ limits }) => limits.codeLifetimeMs,
  ages,
  nearMs: near,
  isAwaited: true,
  isUsedUp: true,
  issue: async (world) => {
    const { client, code } = await obtainCode(world);
    const kept: KeptCode = { clientId: client.id, code };
    return { secret: JSON.stringify(kept) };
  },
  alive: (world, secret) => {
    const { clientId, code } = JSON.parse(secret) as KeptCode;
    return exchangeable(world, { client: clientOf(world, clientId), code });
  },
};

const keptToken = (accessToken: string, expiresInMs: number): { secret: string; lifetimeMs: number } => {
  if (!(expiresInMs > 0) || !Number.isFinite(expiresInMs))
    throw new ControlFailed("expiresIn is no positive number, so there is no lifetime to judge");
  return { secret: JSON.stringify({ accessToken }), lifetimeMs: expiresInMs };
};

/** Access tokens on both sides of what expiresIn says of them (sections 2.2 and 5.1). */
export const accessTokens: Depositable = {
  subject: "accessToken of an exchange",
  lifetimeMs: ({ accessLifetimeMs }) => accessLifetimeMs,
  ages,
  nearMs: near,
  isAwaited: true,
  issue: async (world) => {
    const { accessToken, expiresInMs } = await obtainTokens(world);
    return keptToken(accessToken, expiresInMs);
  },
  alive: (world, secret) =>
    isShownSomething(world, (JSON.parse(secret) as { readonly accessToken: string }).accessToken),
};

/** The same of tokens that a refresh brought. */
export const refreshedAccessTokens: Depositable = {
  ...accessTokens,
  subject: "accessToken of a refresh",
  issue: async (world) => {
    const { accessToken, expiresInMs } = await obtainRefreshed(world, await obtainTokens(world));
    return keptToken(accessToken, expiresInMs);
  },
};
