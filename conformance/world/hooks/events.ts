import { HookError } from "./hooks.ts";
import { errorMessage } from "../../contract/text.ts";

/** Makes the service create notifications, through the profile's hook. */
export interface Events {
  /**
   * Triggers one event for the account and returns the notification's id where the hook
   * tells it. Resolves once the hook has answered: the notification is then acknowledged.
   * Throws EventHookFailed where the hook does not do its work.
   */
  trigger(accountId: string): Promise<string | undefined>;
  /** A fresh account id, or the next of the profile's accounts where it names some. */
  account(): string;
  /** How many events of this run the hook has acknowledged so far. */
  acknowledged(): number;
  /** Whether `account` gives unused, empty accounts. */
  readonly accountsAreFresh: boolean;
}

/** What a hook's template may use for one event. */
export interface EventValues {
  readonly accountId: string;
  readonly clientId: string;
  /** Counts the events of this run, from 1. */
  readonly n: number;
}

export interface EventsOptions {
  /** Runs the profile's hook once; gives the notification's id where the hook tells it. */
  readonly runHook: (values: EventValues) => Promise<string | undefined>;
  /** The client that the events are to concern. */
  readonly clientId: string;
  /** Accounts that the profile names, for services that accept no others. */
  readonly accounts: readonly string[] | undefined;
  readonly freshUuid: () => string;
}

/** The hook could not create a notification for this account: a matter of configuration, never a breach. */
export class EventHookFailed extends HookError {
  readonly accountId: string;
  constructor(accountId: string, cause: unknown) {
    const reason = errorMessage(cause);
    super("events.trigger", `for account ${accountId}: ${reason.replace(/^hooks\.events\.trigger: /, "")}`);
    this.name = "EventHookFailed";
    this.accountId = accountId;
  }
}

export const createEvents = (options: EventsOptions): Events => {
  const named = options.accounts ?? [];
  let events = 0;
  let handedOut = 0;
  let acknowledged = 0;
  return {
    accountsAreFresh: named.length === 0,
    account: () => {
      const account = named[handedOut % Math.max(1, named.length)];
      handedOut += 1;
      return account ?? options.freshUuid();
    },
    acknowledged: () => acknowledged,
    trigger: async (accountId) => {
      events += 1;
      try {
        const id = await options.runHook({ accountId, clientId: options.clientId, n: events });
        acknowledged += 1;
        return id;
      } catch (error) {
        throw new EventHookFailed(accountId, error);
      }
    },
  };
};
