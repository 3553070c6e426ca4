import { hasEvents } from "./lib/events.ts";
import { newAccount, type Account } from "./lib/oracles/account.ts";
import type { IterationContext } from "./lib/iteration.ts";
import { preflightEvents } from "./lib/preflight.ts";
import { trigger } from "./lib/reading.ts";
import { scenario } from "./lib/scenario.ts";
import type { ScriptClient } from "./protocol.ts";

/*
 * Events at a rate, one an iteration. The pushes that they lead to are seen by the receiver, whose
 * plan lets a share of them fail; the runner compares both.
 */

/** An account gets some events, so that events of one account and of several come side by side. */
const eventsPerAccount = 20;
let owner: { readonly client: ScriptClient; readonly account: Account } | undefined;

const triggerEvent = (context: IterationContext): void => {
  if (!hasEvents) return;
  if (owner === undefined || owner.account.begun >= eventsPerAccount)
    owner = { client: context.someClient(), account: newAccount(context.freshAccount()) };
  trigger(owner.client, owner.account);
};

export const push = scenario({ preflight: preflightEvents, iteration: triggerEvent });
