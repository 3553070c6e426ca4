import { newAccount } from "./oracles/account.ts";
import { grantOf } from "./oracles/authorize.ts";
import { pageOf } from "./oracles/pages.ts";
import { refreshedOf, tokensOf } from "./oracles/tokens.ts";
import { quote } from "./evidence.ts";
import { isSuccess } from "./exchange.ts";
import { beginEvent, hasEvents, notificationIn } from "./events.ts";
import { requests, type Play } from "./play.ts";
import { trouble } from "./report.ts";
import { send } from "./send.ts";
import { settings } from "./settings.ts";

/* One look at everything that a scenario rests on, before any load: what does not play along is told with its likely cause. */

/** The token endpoints, for each client. */
export const preflightTokens = (play: Play): void => {
  for (const index of settings.clients.keys()) accessTokenOf(play, index);
};

/** What lists rest on: tokens, and the event hook where there is one. */
export const preflightLists = (play: Play): void => {
  preflightTokens(play);
  if (hasEvents) preflightEvents(play);
};

/** The event hook. */
export const preflightEvents = (play: Play): void => {
  const [client] = settings.clients;
  if (client === undefined) return;
  if (!hasEvents) {
    trouble(
      `the scenario ${settings.scenario} triggers events, and the profile has no hook for that which can be called by HTTP: set hooks.events.trigger.http`,
    );
    return;
  }
  const answer = send(beginEvent(client, newAccount(play.freshAccount())));
  if (!isSuccess(answer)) {
    trouble(`hooks.events.trigger made no event: ${quote(answer)}`);
    return;
  }
  if (settings.scenario === "push" && notificationIn(answer) === undefined)
    trouble(
      `hooks.events.trigger does not tell the id of the notification, without which pushes cannot be told apart; \`result\` says where it stands in the answer: ${quote(answer)}`,
    );
};

const accessTokenOf = (play: Play, index: number): void => {
  const client = settings.clients[index];
  if (client === undefined) return;
  const who = `clients[${index}] (${client.id})`;
  const authorized = send(requests.authorize(client, play.freshState()));
  const grant = grantOf(authorized);
  if (grant === undefined) {
    trouble(
      `authorize gave ${who} no code: ${quote(authorized)}. Look at baseUrl, at the client's id and redirectUri, and at what authorize needs to get past consent (authorize.headers, authorize.query)`,
    );
    return;
  }
  const exchanged = send(requests.exchange(client, grant.code));
  const tokens = tokensOf(exchanged);
  if (tokens === undefined) {
    trouble(`the exchange gave ${who} no tokens: ${quote(exchanged)}. Look at the client's secret`);
    return;
  }
  const listed = send(requests.list(tokens.accessToken, {}));
  if (pageOf(listed) === undefined) trouble(`the list gave ${who} no page: ${quote(listed)}`);
  const refreshed = send(requests.refresh(client, tokens.refreshToken));
  if (refreshedOf(refreshed) === undefined)
    trouble(`the refresh gave ${who} no accessToken: ${quote(refreshed)}`);
};
