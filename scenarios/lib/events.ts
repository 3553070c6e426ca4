import { atPointer } from "../../conformance/contract/placeholders.ts";
import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import { isText } from "../../conformance/judging/laws/answer.ts";
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

/** Where hooks usually return the id, if the profile does not say. */
const usualPlaces = ["/id", "/notificationId", "/data/id"];

export const notificationIn = ({ fields }: Exchange): string | undefined => {
  const pointers = settings.trigger?.result === undefined ? usualPlaces : [settings.trigger.result];
  return pointers.map((pointer) => atPointer(fields, pointer)).find(isText);
};
