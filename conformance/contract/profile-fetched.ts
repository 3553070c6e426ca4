import type { HookAsWritten, Profile } from "./profile.ts";

/** A hook whose secrets have been fetched: headers and body are as they go out, but for {{placeholders}}. */
export type HookDefinition = Plain<HookAsWritten>;

type Plain<Written> = Written extends { readonly http: infer Http }
  ? Omit<Written, "http"> & {
      readonly http: Omit<Http, "headers"> & { readonly headers?: Readonly<Record<string, string>> };
    }
  : Written;

/**
 * A profile with the secrets of its headers, queries and bodies in their places; those of clients, of the receiver
 * and of the network are kept apart. Never written anywhere.
 */
export interface FetchedProfile extends Omit<Profile, "headers" | "authorize" | "hooks"> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorize?: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly code?: HookDefinition;
  };
  readonly hooks?: {
    readonly clock?: {
      readonly now?: HookDefinition;
      readonly advance?: HookDefinition;
      readonly faketime?: { readonly file: string };
    };
    readonly events?: { readonly trigger: HookDefinition };
    readonly callback?: { readonly register: HookDefinition; readonly restore?: HookDefinition };
    readonly cleanup?: HookDefinition;
  };
  /** The secrets that were put into it, to be masked. */
  readonly fetchedSecrets?: readonly string[];
}

export const canMoveClock = ({ hooks }: Pick<FetchedProfile, "hooks">): boolean =>
  hooks?.clock?.advance !== undefined || hooks?.clock?.faketime !== undefined;
