import { locationOf, type Answer } from "../../world/exchange.ts";

/** Percent-encodings as RFC 3986 section 6.2.2 makes them equal: capital digits, none for what needs none. */
const normalised = (path: string): string =>
  path.replaceAll(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase();
  });

/** Scheme, host, port and path of an address, in a form that can be compared. */
export const placeOf = (url: URL): string => `${url.protocol}//${url.host}${normalised(url.pathname)}`;

/** Whether the address is there as it was sent: its place, and every parameter of its query in order, with the same values. */
const holds = (location: URL, asked: URL): boolean => {
  if (placeOf(location) !== placeOf(asked)) return false;
  let at = 0;
  const wanted = [...asked.searchParams];
  for (const [name, value] of location.searchParams)
    if (wanted[at]?.[0] === name && wanted[at]?.[1] === value) at += 1;
  return at === wanted.length;
};

/**
 * Where a redirect leads to an address other than the whole one that was asked for, that
 * address; undefined where it leads there, and where the answer is no redirect.
 */
export const strayLocation = (answer: Answer, redirectUri: string): string | undefined => {
  const location = locationOf(answer);
  return location === undefined || holds(location, new URL(redirectUri)) ? undefined : location.href;
};
