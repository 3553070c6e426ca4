import { hooksOf, type Profile } from "./profile.ts";

/** Shorter parts of a value are words such as Bearer, not credentials. */
const SHORTEST_PART = 10;

const tellsSecrets = /auth|cookie|token|secret|key|session|password|credential|signature/i;

/** Letters and digits in one long word: nobody writes that but to be recognised by it. */
const looksRandom = (value: string): boolean =>
  /^[\w.~+/=-]{24,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value);

/** Values of headers, query parameters and hook bodies that are there to get past somebody: as secret as a password. */
export const secretsInProfile = (profile: Profile): readonly string[] => {
  const { headers, authorize } = profile;
  const hooks = hooksOf(profile).flatMap(([, hook]) => ("http" in hook ? [hook.http] : []));
  return [
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
        return [inner, ...inner.split(/[\s;=,]+/).filter(({ length }) => length >= SHORTEST_PART)];
      });

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
