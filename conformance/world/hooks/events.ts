import { HookError } from "./hooks.ts";
import { errorMessage } from "../../contract/text.ts";

/** Creates notifications at the service, through the profile's hook. */
export type Events = ReturnType<typeof createEvents>;

export interface EventsOptions {
  /** Runs the profile's hook once; `n` counts the events of this run, from 1. Returns the notification's id if the hook does. */
  readonly runHook: (values: {
    readonly accountId: string;
    readonly clientId: string;
    readonly n: number;
  }) => Promise<string | undefined>;
  /** Whether the profile names the place of the ids in the hook's answer, and so says whose they are. */
  readonly idsAreNamed?: boolean;
  /** The client that the events concern. */
  readonly clientId: string;
  /** Accounts that the profile names, for services that accept no others. */
  readonly accounts: readonly string[] | undefined;
  readonly freshUuid: () => string;
}

/** The hook could not create a notification for this account: a matter of configuration, never a breach. */
export class EventHookFailed extends HookError {
  override readonly name = "EventHookFailed";
  constructor(accountId: string, cause: unknown) {
    const reason = errorMessage(cause);
    super(
      "events.trigger",
      `for account ${accountId}: ${reason.replace(/^hooks\.events\.trigger: /, "")}`,
      cause instanceof HookError ? cause.end : undefined,
    );
  }
}

/** Whether nobody knows if the hook created one, because its answer was lost; another event may be triggered instead. */
export const isLostEvent = (error: unknown): error is EventHookFailed =>
  error instanceof EventHookFailed && error.end?.kind === "lost" && error.end.reason === "closed";

export const createEvents = (options: EventsOptions) => {
  const named = options.accounts ?? [];
  let events = 0;
  let handedOut = 0;
  let acknowledged = 0;
  let areIds = true;
  return {
    /** Whether `account` returns unused, empty accounts. */
    accountsAreFresh: named.length === 0,
    /** Whether the ids that the hook returns may be of something other than notifications, such as of jobs. */
    mayTellOthers: options.idsAreNamed !== true,
    /** A fresh account id, or the next of the profile's accounts if it names any. */
    account: (): string => {
      const account = named[handedOut % Math.max(1, named.length)];
      handedOut += 1;
      return account ?? options.freshUuid();
    },
    /** How many events of this run that concern the first client the hook has acknowledged so far. */
    acknowledged: () => acknowledged,
    /** From now on `trigger` returns no ids: those of the hook were seen to be of something other than notifications. */
    ignoreIds: (): void => {
      areIds = false;
    },
    ignoresIds: () => !areIds,
    /**
     * Triggers one event for the account and returns the notification's id if the hook returns one. It concerns the
     * first client unless another is given, which only hooks that name the client obey. Resolves once the hook has
     * answered; the notification is then acknowledged. Throws EventHookFailed if the hook fails.
     */
    trigger: async (accountId: string, clientId = options.clientId): Promise<string | undefined> => {
      events += 1;
      try {
        const id = await options.runHook({ accountId, clientId, n: events });
        // The first client need not be shown what concerns another.
        if (clientId === options.clientId) acknowledged += 1;
        return areIds ? id : undefined;
      } catch (error) {
        throw new EventHookFailed(accountId, error);
      }
    },
  };
};
