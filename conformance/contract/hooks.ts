import { fieldOf } from "./json.ts";
import type { HookAsWritten, Profile } from "./profile.ts";

/** The hooks of a profile, by their places in it, and the {{placeholders}} that each gets. */
export const hookPlaceholders = {
  "hooks.clock.now": [],
  "hooks.clock.advance": ["ms", "seconds"],
  "hooks.events.trigger": ["accountId", "clientId", "n"],
  // `ca` is the PEM of the authority that signed the receiver's certificate.
  "hooks.callback.register": ["url", "ca"],
  "hooks.callback.restore": ["url"],
  "hooks.cleanup": [],
  "authorize.code": ["clientId", "state", "redirectUri"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type HookName = keyof typeof hookPlaceholders;

/** The values of a hook's placeholders. */
export type HookValues = Readonly<Record<string, string | number>>;

/** Hooks of a target in the same process, by their place below `hooks` in a profile. */
export type InProcessHooks = Readonly<Record<string, (values: HookValues) => unknown>>;

/** The hooks that a profile has, each with its place. */
export const hooksOf = (
  profile: Pick<Profile, "hooks" | "authorize">,
): readonly (readonly [HookName, HookAsWritten])[] =>
  (Object.keys(hookPlaceholders) as HookName[]).flatMap((name) => {
    const hook = name.split(".").reduce<unknown>(fieldOf, profile);
    return hook === undefined ? [] : [[name, hook as HookAsWritten] as const];
  });
