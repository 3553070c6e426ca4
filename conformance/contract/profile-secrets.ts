import type { FetchedProfile } from "./profile-fetched.ts";
import { hooksOf } from "./hooks.ts";

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
