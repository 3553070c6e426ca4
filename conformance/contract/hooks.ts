import type { HookAsWritten } from "./profile.ts";

/** The hooks of a profile, and the {{placeholders}} that each gets. */
export const hookPlaceholders = {
  "hooks.clock.now": [],
  "hooks.clock.advance": ["ms", "seconds"],
  "hooks.events.trigger": ["accountId", "clientId", "n"],
  "hooks.callback.register": ["url", "ca"],
  "hooks.callback.restore": ["url"],
  "hooks.cleanup": [],
  "authorize.code": ["clientId", "state", "redirectUri"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type HookName = keyof typeof hookPlaceholders;

interface HooksOf<Written> {
  readonly authorize?: { readonly code?: Written };
  readonly hooks?: {
    readonly clock?: { readonly now?: Written; readonly advance?: Written };
    readonly events?: { readonly trigger: Written };
    readonly callback?: { readonly register: Written; readonly restore?: Written };
    readonly cleanup?: Written;
  };
}

/** The hooks of a profile, each with its key. `ca` is the PEM of the authority that signed the receiver's certificate. */
export const hooksOf = <Written extends HookAsWritten>({
  hooks,
  authorize,
}: HooksOf<Written>): readonly (readonly [HookName, Written])[] => {
  const all: Readonly<Record<HookName, Written | undefined>> = {
    "hooks.clock.now": hooks?.clock?.now,
    "hooks.clock.advance": hooks?.clock?.advance,
    "hooks.events.trigger": hooks?.events?.trigger,
    "hooks.callback.register": hooks?.callback?.register,
    "hooks.callback.restore": hooks?.callback?.restore,
    "hooks.cleanup": hooks?.cleanup,
    "authorize.code": authorize?.code,
  };
  return Object.entries(all).flatMap(([name, hook]) =>
    hook === undefined ? [] : [[name as HookName, hook]],
  );
};
