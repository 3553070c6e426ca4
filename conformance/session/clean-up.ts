import type { Dispatcher } from "undici";
import { given } from "../contract/given.ts";
import type { LeftBehind } from "../contract/left-behind.ts";
import type { FetchedProfile } from "../contract/profile-fetched.ts";
import { runHook } from "../world/hooks/hooks.ts";
import type { LeftBehindAccount } from "../world/left-behind.ts";
import { errorMessage } from "../contract/text.ts";

export interface CleanUpOptions {
  readonly dispatcher: Dispatcher;
  /** Masks secrets in a hook's messages. */
  readonly mask: (text: string) => string;
  /** Whether pushes went to a receiver that outlives the run. */
  readonly isAttached: boolean;
}

/**
 * Restores the service's former callback address and runs the profile's clean-up hook, if there are hooks for them, and
 * reports what remains. Has its own deadline, within the hooks' timeouts, so that an interrupted run is cleaned up too.
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
  const callback =
    url === undefined
      ? undefined
      : {
          url: mask(url),
          isAttached,
          ...(restore !== undefined && {
            restore: await outcomeOf(runHook("callback.restore", restore, { url }, { dispatcher })),
          }),
        };
  const left: LeftBehind = { ...account.report(), ...given({ callback }) };
  const hook = hooks?.cleanup;
  const { codes, accessTokens, refreshTokens, notifications } = left;
  const made = [codes, accessTokens, refreshTokens].some(({ issued }) => issued > 0);
  if (hook === undefined || !(made || notifications.created > 0 || url !== undefined)) return left;
  const input = { ...left, ...account.ids() };
  return { ...left, cleanup: await outcomeOf(runHook("cleanup", hook, {}, { dispatcher, input })) };
};
