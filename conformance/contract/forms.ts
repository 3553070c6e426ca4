/* Addresses and forms of the document as plain values, separate from the schemas, so that k6 scripts need no schema library. */

/** UUID-shaped: 8-4-4-4-12 hexadecimal digits; the document names no version (section 2.3). */
export const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A time in the extended format of ISO 8601, or without separators in its basic one. A comma is allowed as well as a dot. */
const timeShape = (date: "-" | "", time: ":" | ""): string =>
  [
    ["\\d{4}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12]\\d|3[01])"].join(date),
    `T(?:${["(?:[01]\\d|2[0-3])", "[0-5]\\d", "[0-5]\\d[.,]\\d{3}"].join(time)}|24${time}00${time}00[.,]000)`,
    `(?:Z|\\+00(?:${time}00)?)`,
  ].join("");

/**
 * ISO 8601 in UTC with milliseconds (section 2.3), in either format, such as 2024-05-06T07:08:09.123Z; +00:00 says the
 * same as Z.
 */
export const isoMillisecondsShape = new RegExp(`^(?:${timeShape("-", ":")}|${timeShape("", "")})$`);

/** Such a time in milliseconds since 1970; undefined if the text is none. */
export const momentOf = (text: string): number | undefined =>
  isoMillisecondsShape.test(text)
    ? Date.parse(
        text
          .replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, "$1-$2-$3T$4:$5:")
          .replace(",", ".")
          .replace(/\+.*$/, "Z"),
      )
    : undefined;

/**
 * A time since 1970 in milliseconds, from seconds, milliseconds, microseconds or nanoseconds. A count of one unit stays
 * below its bound until the year 5138, and of the next unit has been above it since 1973.
 */
export const epochMsOf = (time: number): number => {
  const size = Math.abs(time);
  if (size <= 1e11) return time * 1_000;
  if (size <= 1e14) return time;
  return size <= 1e17 ? time / 1_000 : time / 1_000_000;
};

/** The characters that a state may have (section 2.1). */
export const stateCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** The endpoints of the document (section 4). To add one, start here: tables over them stop compiling until they include it. */
export const endpoints = {
  authorize: { method: "GET", path: "/open-api/oauth/authorize" },
  exchange: { method: "POST", path: "/open-api/oauth/access-token" },
  refresh: { method: "POST", path: "/open-api/oauth/refresh-token" },
  list: { method: "GET", path: "/open-api/v1/notifications" },
} as const satisfies Readonly<Record<string, { readonly method: "GET" | "POST"; readonly path: string }>>;

/** The end of an address that includes part of the documented paths, which no base address may. */
export const documentedPath = /\/open-api(\/.*)?$/;

export type Endpoint = keyof typeof endpoints;
export const endpointNames = Object.keys(endpoints) as readonly Endpoint[];

/** The request header that carries the access token (section 5.2). */
export const accessTokenHeader = "x-service-access-token";

const tokenName = /token$/i;
const oneWord = /^\S{16,}$/;
/** One long word, as if drawn. */
const drawnWord = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{20,}$/i;

/**
 * Whether a field of an answer holds a token, whatever the service calls it, such as `access_token` (RFC 6749). A
 * message under such a name has blanks, or is short. Beside an accessToken, any long word that seems drawn may be one.
 */
export const isTokenField = (name: string, value: string, isBesideToken: boolean): boolean =>
  (tokenName.test(name) && oneWord.test(value)) || (isBesideToken && drawnWord.test(value));
