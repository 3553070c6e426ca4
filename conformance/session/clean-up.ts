import type { Dispatcher } from "undici";
import type { LeftBehind } from "../contract/left-behind.ts";
import type { FetchedProfile } from "../contract/profile-fetched.ts";
import { runHook } from "../world/hooks/hooks.ts";
import type { LeftBehindAccount } from "../world/left-behind.ts";
import { errorMessage } from "../contract/text.ts";

export interface CleanUpOptions {
  readonly dispatcher: Dispatcher;
  /** Hides what is secret in what a hook says. */
  readonly mask: (text: string) => string;
  /** Whether pushes went to a receiver that outlives the run. */
  readonly isAttached: boolean;
}

/**
 * Puts the service's former callback address back and lets the profile's own clean-up do its work, where there are
 * hooks for them, and says what then stays. Runs on its own time, within the hooks' timeouts, so that an interrupted
 * run is cleaned up after too.
 */
export const cleanUp = async (
  account: LeftBehindAccount,
  hooks: FetchedProfile["hooks"],
  { dispatcher, mask, isAttached }: CleanUpOptions,
): Promise<LeftBehind> => {
  const outcomeOf = async (running: Promise<unknown>) => {
    try {
      await running;
      return { ok: true };
    } catch (error) {
      return { ok: false, problem: mask(errorMessage(error)) };
    }
  };
  const url = account.callbackUrl();
  const { restore } = hooks?.callback ?? {};
  const restored =
    url === undefined || restore === undefined
      ? undefined
      : await outcomeOf(runHook("callback.restore", restore, { url }, { dispatcher }));
  const left: LeftBehind = {
    ...account.report(),
    ...(url === undefined
      ? {}
      : {
          callback: { url: mask(url), isAttached, ...(restored === undefined ? {} : { restore: restored }) },
        }),
  };
  const hook = hooks?.cleanup;
  const { codes, accessTokens, refreshTokens, notifications } = left;
  const made = [codes, accessTokens, refreshTokens].some(({ issued }) => issued > 0);
  if (hook === undefined || !(made || notifications.created > 0 || url !== undefined)) return left;
  const input = { ...left, ...account.ids() };
  return { ...left, cleanup: await outcomeOf(runHook("cleanup", hook, {}, { dispatcher, input })) };
};
