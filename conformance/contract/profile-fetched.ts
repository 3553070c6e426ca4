import type { HookAsWritten, Profile } from "./profile.ts";

type Fetched<T> = unknown extends T
  ? T
  : {
      [Key in keyof T]: Key extends "headers" | "query" ? Readonly<Record<string, string>> : Fetched<T[Key]>;
    };

/** A hook with its secrets fetched: headers and body as sent, except for {{placeholders}}. */
export type HookDefinition = Fetched<HookAsWritten>;

/** The parts of a profile that hold secrets among other values. */
export type WithSecrets = Pick<Profile, "headers" | "authorize" | "hooks">;

/**
 * A profile with the secrets of its headers, queries and bodies filled in; those of clients, receiver and network are
 * kept apart. Never written anywhere.
 */
export type FetchedProfile = Omit<Profile, keyof WithSecrets> &
  Fetched<WithSecrets> & {
    /** The secrets that were filled in, to be masked. */
    readonly fetchedSecrets?: readonly string[];
  };

export const canMoveClock = ({ hooks }: Pick<FetchedProfile, "hooks">): boolean =>
  hooks?.clock?.advance !== undefined || hooks?.clock?.faketime !== undefined;
