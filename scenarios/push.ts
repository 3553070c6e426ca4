import { hasEvents } from "./lib/events.ts";
import { optionsFor } from "./lib/options.ts";
import { newAccount, type Account } from "./lib/oracles/account.ts";
import { iterate } from "./lib/play.ts";
import { preflightEvents } from "./lib/preflight.ts";
import { trigger } from "./lib/reading.ts";
import { settings } from "./lib/settings.ts";
import type { ScriptClient } from "./protocol.ts";

/*
 * Events at a rate, one an iteration. The pushes that they lead to are seen by the receiver, whose
 * plan lets a share of them fail; the runner compares both.
 */

export const options = optionsFor(settings);
export const preflight = (): void => iterate(preflightEvents);

/** An account gets some events, so that events of one account and of several come side by side. */
const eventsPerAccount = 20;
let owner: { readonly client: ScriptClient; readonly account: Account } | undefined;

export default (): void =>
  iterate((play) => {
    if (!hasEvents) return;
    if (owner === undefined || owner.account.begun >= eventsPerAccount)
      owner = { client: play.someClient(), account: newAccount(play.freshAccount()) };
    trigger(owner.client, owner.account, 1);
  });
