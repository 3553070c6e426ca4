import { locationOf, type Answer } from "../../world/exchange.ts";

/** Normalizes percent-encoding by RFC 3986 section 6.2.2: upper-case digits, and none for unreserved characters. */
const normalised = (path: string): string =>
  path.replaceAll(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase();
  });

/** Scheme, host, port and path of an address, normalized for comparison. */
export const placeOf = (url: URL): string => `${url.protocol}//${url.host}${normalised(url.pathname)}`;

/** Whether a location contains the requested address: its place, and every query parameter in order with the same value. */
const holds = (location: URL, asked: URL): boolean => {
  if (placeOf(location) !== placeOf(asked)) return false;
  let at = 0;
  const wanted = [...asked.searchParams];
  for (const [name, value] of location.searchParams)
    if (wanted[at]?.[0] === name && wanted[at]?.[1] === value) at += 1;
  return at === wanted.length;
};

/**
 * The address that a redirect leads to, if it is not the requested one; undefined if it is, or if the answer is not a
 * redirect.
 */
export const strayLocation = (answer: Answer, redirectUri: string): string | undefined => {
  const location = locationOf(answer);
  return location === undefined || holds(location, new URL(redirectUri)) ? undefined : location.href;
};
