import type { FetchedProfile } from "./profile-fetched.ts";
import { hooksOf } from "./hooks.ts";

/** Shorter parts of a value are words such as Bearer, not credentials. */
const SHORTEST_PART = 10;

const tellsSecrets = /auth|cookie|token|secret|key|session|password|credential|signature/i;

/** Letters and digits in one long word, as only credentials are written. */
const looksRandom = (value: string): boolean =>
  /^[\w.~+/=-]{24,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value);

/**
 * Values of headers, query parameters and hook bodies that are there to get past somebody, as secret as a password;
 * and all that was fetched for them from where secrets are kept.
 */
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

/** Values below keys that tell of secrets, with their telling parts: `Bearer` and `session=` are none. */
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

/** A percent sign may stand in a password as it is. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
