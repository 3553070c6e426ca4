import type { HookAsWritten, Profile } from "./profile.ts";

type Fetched<T> = unknown extends T
  ? T
  : {
      [Key in keyof T]: Key extends "headers" | "query" ? Readonly<Record<string, string>> : Fetched<T[Key]>;
    };

/** A hook whose secrets have been fetched: headers and body are as they go out, but for {{placeholders}}. */
export type HookDefinition = Fetched<HookAsWritten>;

/** The parts of a profile that hold secrets beside other values. */
export type WithSecrets = Pick<Profile, "headers" | "authorize" | "hooks">;

/**
 * A profile with the secrets of its headers, queries and bodies in their places; those of clients, of the receiver
 * and of the network are kept apart. Never written anywhere.
 */
export type FetchedProfile = Omit<Profile, keyof WithSecrets> &
  Fetched<WithSecrets> & {
    /** The secrets that were put into it, to be masked. */
    readonly fetchedSecrets?: readonly string[];
  };

export const canMoveClock = ({ hooks }: Pick<FetchedProfile, "hooks">): boolean =>
  hooks?.clock?.advance !== undefined || hooks?.clock?.faketime !== undefined;
