import { newAccount } from "./oracles/account.ts";
import { grantOf } from "./oracles/authorize.ts";
import { pageOf } from "./oracles/pages.ts";
import { refreshedOf, tokensOf } from "./oracles/tokens.ts";
import { quote } from "./evidence.ts";
import { isSuccess } from "./exchange.ts";
import { beginEvent, hasEvents, notificationIn } from "./events.ts";
import { requests, type IterationContext } from "./iteration.ts";
import { trouble } from "./report.ts";
import { send } from "./send.ts";
import { settings } from "./settings.ts";
import type { ScriptClient } from "../protocol.ts";

/* Calls everything a scenario needs once, before any load, and reports failures with their likely cause. */

export const preflightTokens = (context: IterationContext): void => {
  for (const [index, client] of settings.clients.entries()) preflightClient(context, client, index);
};

export const preflightLists = (context: IterationContext): void => {
  preflightTokens(context);
  if (hasEvents) preflightEvents(context);
};

export const preflightEvents = (context: IterationContext): void => {
  const [client] = settings.clients;
  if (client === undefined) return;
  if (!hasEvents)
    return trouble(
      `the scenario ${settings.scenario} triggers events, but the profile has no hook for that which can be called by HTTP: set hooks.events.trigger.http`,
    );
  const answer = send(beginEvent(client, newAccount(context.freshAccount())));
  if (!isSuccess(answer)) return trouble(`hooks.events.trigger created no event: ${quote(answer)}`);
  if (settings.scenario === "push" && notificationIn(answer) === undefined)
    trouble(
      `hooks.events.trigger does not return the notification's id, which is needed to tell pushes apart; set \`result\` to its place in the answer: ${quote(answer)}`,
    );
};

const preflightClient = (context: IterationContext, client: ScriptClient, index: number): void => {
  const who = `clients[${index}] (${client.id})`;
  const authorized = send(requests.authorize(client, context.freshState()));
  const grant = grantOf(authorized);
  if (grant === undefined)
    return trouble(
      `authorize gave ${who} no code: ${quote(authorized)}. Check baseUrl, the client's id and redirectUri, and what authorize needs to get past consent (authorize.headers, authorize.query)`,
    );
  const exchanged = send(requests.exchange(client, grant.code));
  const tokens = tokensOf(exchanged);
  if (tokens === undefined)
    return trouble(`the exchange gave ${who} no tokens: ${quote(exchanged)}. Check the client's secret`);
  const listed = send(requests.list(tokens.accessToken, {}));
  if (pageOf(listed) === undefined) trouble(`the list gave ${who} no page: ${quote(listed)}`);
  const refreshed = send(requests.refresh(client, tokens.refreshToken));
  if (refreshedOf(refreshed) === undefined)
    trouble(`the refresh gave ${who} no accessToken: ${quote(refreshed)}`);
};
