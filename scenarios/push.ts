import exec from "k6/execution";
import { hasEvents } from "./lib/events.ts";
import { inTurn } from "./lib/mix.ts";
import { newAccount } from "./lib/oracles/account.ts";
import { type IterationContext, scenario } from "./lib/iteration.ts";
import { preflightEvents } from "./lib/preflight.ts";
import { trigger } from "./lib/reading.ts";
import { settings } from "./lib/settings.ts";

/*
 * Events at a rate, one per iteration. The receiver sees the resulting pushes, and its plan makes a share of them fail;
 * the runner compares both. Accounts take turns, so that a load of a hundred events meets every kind of failure.
 */

const triggerEvent = (context: IterationContext): void => {
  if (!hasEvents) return;
  const account = inTurn(settings.accounts, exec.scenario.iterationInTest) ?? context.freshAccount();
  trigger(context.someClient(), newAccount(account));
};

export const push = scenario({ preflight: preflightEvents, iteration: triggerEvent });
