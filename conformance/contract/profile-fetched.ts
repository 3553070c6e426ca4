import type { HookAsWritten, Profile } from "./profile.ts";
import { fieldOf } from "./json.ts";

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

/** What a service asks its clients for, in PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
  readonly passphrase: string | undefined;
}

/** Shorter parts of a value are words such as Bearer, not credentials. */
const SHORTEST_PART = 10;

const tellsSecrets = /auth|cookie|token|secret|key|session|password|credential|signature/i;

/** Whether a value is one long word of letters and digits, as only credentials are. */
const looksRandom = (value: string): boolean =>
  /^[\w.~+/=-]{24,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value);

/** Secret values in headers, query parameters and hook bodies, and everything fetched from where secrets are kept. */
export const secretsInProfile = (profile: FetchedProfile): readonly string[] => {
  const { headers, authorize, clients, fetchedSecrets = [] } = profile;
  const hooks = hooksOf(profile).flatMap(([, hook]) => ("http" in hook ? [hook.http] : []));
  return [
    ...fetchedSecrets.flatMap(withParts),
    ...clients.flatMap(({ redirectUri }) => inAddress(redirectUri)),
    ...[headers, authorize?.headers, authorize?.query, ...hooks.map((hook) => hook.headers)].flatMap(
      (pairs) => namedIn(pairs),
    ),
    ...hooks.flatMap(({ body, url }) => [...namedIn(body), ...inAddress(url)]),
  ];
};

/** Values under keys that suggest secrets, with their credential-like parts: not `Bearer` or `session=`. */
const namedIn = (value: unknown): readonly string[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
        if (typeof inner !== "string") return namedIn(inner);
        if (/^\{\{\w+\}\}$/.test(inner) || !(tellsSecrets.test(name) || looksRandom(inner))) return [];
        return withParts(inner);
      });

const withParts = (value: string): readonly string[] => [
  value,
  ...value.split(/[\s;=,]+/).filter(({ length }) => length >= SHORTEST_PART),
];

const inAddress = (address: string): readonly string[] => {
  if (!URL.canParse(address)) return [];
  const { password, searchParams } = new URL(address);
  return [...(password === "" ? [] : [decoded(password)]), ...namedIn(Object.fromEntries(searchParams))];
};

/** Decodes percent-encoding, if valid: a password may contain a bare percent sign. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

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
