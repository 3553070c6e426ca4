import { hasEvents } from "./lib/events.ts";
import { newAccount, type Account } from "./lib/oracles/account.ts";
import type { IterationContext } from "./lib/iteration.ts";
import { preflightEvents } from "./lib/preflight.ts";
import { trigger } from "./lib/reading.ts";
import { scenario } from "./lib/scenario.ts";
import type { ScriptClient } from "./protocol.ts";

/*
 * Events at a rate, one per iteration. The receiver sees the resulting pushes, and its plan makes a share of them fail;
 * the runner compares both.
 */

/** An account gets several events, so that events of one account and of different accounts are concurrent. */
const eventsPerAccount = 20;
let owner: { readonly client: ScriptClient; readonly account: Account } | undefined;

const triggerEvent = (context: IterationContext): void => {
  if (!hasEvents) return;
  if (owner === undefined || owner.account.begun >= eventsPerAccount)
    owner = { client: context.someClient(), account: newAccount(context.freshAccount()) };
  trigger(owner.client, owner.account);
};

export const push = scenario({ preflight: preflightEvents, iteration: triggerEvent });
