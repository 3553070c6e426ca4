import { toldId } from "../../conformance/contract/placeholders.ts";
import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import { isSuccess, type Exchange } from "./exchange.ts";
import type { Account } from "./oracles/account.ts";
import { requests } from "./iteration.ts";
import { triggered } from "./report.ts";
import type { Request } from "./requests.ts";
import { settings } from "./settings.ts";

export const hasEvents = requests.trigger !== undefined;

/** Clients whose list the preflight requires. What events create may belong to the first client alone. */
export const listedClients = settings.clients.slice(0, hasEvents ? 1 : undefined);

/** k6 sends a GET again if its kept connection ends before the answer begins, without telling. */
export const eventsMayRepeat = settings.trigger?.method === "GET";

/**
 * The request that makes the service create a notification for the account; the account counts it as begun immediately.
 */
export const beginEvent = (client: ScriptClient, account: Account): Request => {
  if (requests.trigger === undefined) throw new Error("the profile has no hook events.trigger");
  account.begun += 1;
  if (eventsMayRepeat) account.mayRepeat = true;
  return requests.trigger(client, account.accountId);
};

/** Records the result of an event. An event without a success may or may not have created something. */
export const endEvent = (account: Account, sentAtMs: number, answer: Exchange): void => {
  if (!isSuccess(answer)) {
    account.doubtful = true;
    return;
  }
  const id = notificationIn(answer);
  account.acknowledged.push({ atMs: epochMs(), id });
  triggered(sentAtMs, account.accountId, id);
};

export const notificationIn = ({ text }: Exchange): string | undefined =>
  toldId({ text }, settings.trigger?.result);
