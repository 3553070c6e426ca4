import { locationOf, type Answer, headerOf } from "../../world/exchange.ts";

/** Normalizes percent-encoding by RFC 3986 section 6.2.2: upper-case digits, and none for unreserved characters. */
const normalised = (path: string): string =>
  path.replaceAll(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase();
  });

/** Scheme, host, port and path of an address, normalized for comparison. */
export const placeOf = (url: URL): string => `${url.protocol}//${url.host}${normalised(url.pathname)}`;

/**
 * The answer with the whole address of its Location, as browsers complete one without a scheme, or with a backslash for a
 * slash. A path alone stays one: it leads within the service.
 */
export const withAbsoluteLocation = (answer: Answer, base: string): Answer => ({
  ...answer,
  headers: answer.headers.map(([name, value]) => [
    name,
    name === "location" && /^[\\/]{2}/.test(value) && URL.canParse(value, base)
      ? new URL(value, base).href
      : value,
  ]),
});

/**
 * Whether a location contains the requested address: its place, and every query parameter with the same value. Only the
 * order of equal names has a meaning: some libraries sort a query by name as they write it.
 */
const holds = (location: URL, asked: URL): boolean =>
  placeOf(location) === placeOf(asked) &&
  [...new Set(asked.searchParams.keys())].every((name) =>
    isWithin(asked.searchParams.getAll(name), location.searchParams.getAll(name)),
  );

/** Whether the values occur among others in this order. */
const isWithin = (wanted: readonly string[], values: readonly string[]): boolean => {
  let at = 0;
  for (const value of values) if (wanted[at] === value) at += 1;
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

/** The kind of an answer's body, by its content, not its label. */
export const kindOfBody = (answer: Answer): "empty" | "json" | "html" | "text" => {
  if (answer.text.trim() === "") return "empty";
  if (answer.json !== undefined) return "json";
  return /^\s*<(!doctype|html|\?xml|[a-z]+[\s>])/i.test(answer.text) ? "html" : "text";
};

/** The outcome of an unusual request, in the same words for the same behaviour. */
export const outcomeOf = (answer: Answer | undefined, isGranted: boolean): unknown =>
  answer === undefined
    ? { outcome: "hang-up" }
    : { outcome: isGranted ? "granted" : "refused", status: answer.status, body: kindOfBody(answer) };

/** Media type of an answer in lower case, with its parameters in order; undefined if it has none (RFC 9110 section 8.3). */
export const mediaTypeOf = (answer: Answer): string | undefined =>
  headerOf(answer, "content-type")
    ?.split(";")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "")
    .join("; ");
