import { epochMs } from "./clock.ts";
import { sleep } from "k6";
import { newAccount } from "./oracles/account.ts";
import { grantOf, refreshedOf, tokensOf } from "./oracles/tokens.ts";
import { pageOf } from "./oracles/pages.ts";
import { failureText, inSomeTries, type Failure } from "./evidence.ts";
import { isSuccess, type Exchange } from "./exchange.ts";
import { beginEvent, hasEvents, listedClients, notificationIn } from "./reading.ts";
import { mayHaveEnded } from "./issue.ts";
import { requests, type IterationContext } from "./iteration.ts";
import { trouble } from "./report.ts";
import type { Request } from "./requests.ts";
import { send } from "./send.ts";
import { settings } from "./settings.ts";
import { noAnswer, type ScriptClient } from "../protocol.ts";

/* Calls everything a scenario needs once, before any load, and reports failures with their likely cause. */

/** Whether the target has answered anything, whatever it was. */
let hasAnswered = false;

const ask = (request: Request): Exchange => {
  const answer = send(request);
  hasAnswered ||= answer.status !== 0;
  return answer;
};

/** Seconds between tries, by the number of the try. */
const PAUSE_S = 0.5;

/** Tries the steps, and reports what did not come. Whether a failure leaves nothing more to try. */
const tell = (attempt: () => Failure | undefined): boolean => {
  const failure = inSomeTries(attempt, (afterTry) => sleep(afterTry * PAUSE_S));
  if (failure === undefined) return false;
  const { answer } = failure;
  trouble(hasAnswered ? failureText(failure) : noAnswer.say(answer.text));
  return answer.status === 0;
};

export const preflightTokens = (context: IterationContext): void =>
  preflightClients(context, () => undefined);

/** The event comes before the lists, because a service may refuse to list nothing. */
export const preflightLists = (context: IterationContext): void =>
  preflightClients(context, () => (hasEvents ? triggerOnce(context) : undefined));

const preflightClients = (context: IterationContext, beforeList: () => Failure | undefined): void => {
  for (const [index, client] of settings.clients.entries())
    if (tell(() => tryClient(context, client, index, beforeList))) return;
};

export const preflightEvents = (context: IterationContext): void => {
  if (!hasEvents)
    return trouble(
      `the scenario ${settings.scenario} triggers events, but the profile has no hook for that which can be called by HTTP: set hooks.events.trigger.http`,
    );
  // The hook may be elsewhere than the target, so its silence says nothing about that.
  hasAnswered = true;
  tell(() => triggerOnce(context));
};

const triggerOnce = (context: IterationContext): Failure | undefined => {
  const [client] = settings.clients;
  if (client === undefined) return undefined;
  const answer = send(beginEvent(client, newAccount(context.freshAccount())));
  if (!isSuccess(answer)) return { what: "hooks.events.trigger created no event", answer };
  if (settings.scenario !== "push" || notificationIn(answer) !== undefined) return undefined;
  return {
    what: "hooks.events.trigger does not return the notification's id",
    answer,
    remedy: "It is needed to tell pushes apart: set `result` to its place in the answer",
  };
};

const tryClient = (
  context: IterationContext,
  client: ScriptClient,
  index: number,
  beforeList: () => Failure | undefined,
): Failure | undefined => {
  const who = `clients[${index}] (${client.id})`;
  const issue = { askedAtMs: epochMs(), lifetimeMs: settings.limits.codeLifetimeMs };
  const authorized = ask(requests.authorize(client, context.freshState()));
  const grant = grantOf(authorized);
  if (grant === undefined)
    return {
      what: `authorize gave ${who} no code`,
      answer: authorized,
      remedy:
        "Check baseUrl, the client's id and redirectUri, and what authorize needs to get past consent (authorize.headers, authorize.query)",
    };
  const exchanged = ask(requests.exchange(client, grant.code));
  const tokens = tokensOf(exchanged);
  if (tokens === undefined)
    return {
      what: `the exchange gave ${who} no tokens`,
      answer: exchanged,
      ...(mayHaveEnded(issue, epochMs())
        ? {
            mayPass: true,
            remedy: "The service is so slow that the code may have ended (limits.codeLifetimeMs)",
          }
        : { remedy: "Check the client's secret" }),
    };
  return beforeList() ?? tryTokens(client, who, tokens);
};

/** What the tokens of an exchange bring. */
const tryTokens = (
  client: ScriptClient,
  who: string,
  tokens: NonNullable<ReturnType<typeof tokensOf>>,
): Failure | undefined => {
  const listed = ask(requests.list(tokens.accessToken, {}));
  // What was created may not be listed yet.
  const isEmpty = hasEvents && [400, 401, 403, 404].includes(listed.status);
  if (pageOf(listed) === undefined && (!isEmpty || listedClients.includes(client)))
    return { what: `the list gave ${who} no page`, answer: listed, mayPass: isEmpty };
  const refreshed = ask(requests.refresh(client, tokens.refreshToken));
  return refreshedOf(refreshed) === undefined
    ? { what: `the refresh gave ${who} no accessToken`, answer: refreshed }
    : undefined;
};
