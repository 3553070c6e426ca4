import { jsonAnswer, withHeaders } from "../answer.ts";
import { asksFor, lastOf, stranger } from "../changes.ts";
import type { Context } from "../context.ts";
import {
  accessTokens,
  ignoringAfter,
  ignoringCase,
  ignoringLast,
  ignoringSuffix,
  inBase64,
} from "../credentials.ts";
import { everything } from "../notifications.ts";
import { parseQuery, rawQueryOf } from "../requests.ts";
import { change, keeping, type Replacement, rows } from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound.ts";

/** Strangers are admitted if `lets` holds for what they presented; "" stands for no header. */
const lettingIn =
  (lets: (presented: string, context: Context) => boolean): Replacement =>
  (sound) => ({
    readAccessToken: (context) => sound.readAccessToken(context) ?? "",
    findAccessToken: (presented, context) =>
      sound.findAccessToken(presented, context) ?? (lets(presented, context) ? stranger(context) : undefined),
  });

/** Without the header, the token is read from elsewhere. */
const readingAlso = (read: (context: Context) => string | undefined): Replacement =>
  change("readAccessToken", (token, context) => token ?? read(context));

/** Serves the list under another path as well, without requiring a token. */
const servedAlsoAt =
  (path: string, matches: (asked: string) => boolean = (asked) => asked === path): Replacement =>
  (sound) => {
    const isThere = ({ from }: Context): boolean => matches(from.url?.split("?")[0] ?? "");
    return {
      pathsOf: (operation) => [...sound.pathsOf(operation), ...(operation === "list" ? [path] : [])],
      readAccessToken: (context) => (isThere(context) ? "" : sound.readAccessToken(context)),
      findAccessToken: (presented, context) =>
        isThere(context) ? stranger(context) : sound.findAccessToken(presented, context),
    };
  };

/** Refusals for a missing token that reveal something about the list. */
const refusingWith = (told: (context: Context) => object): Replacement =>
  change("renderRefusal", (answer, { kind }, context) =>
    kind.startsWith("access-token") ? jsonAnswer(401, { error: kind, ...told(context) }) : answer,
  );

/** Header names as spelt in the request. */
const spelt = ({ from }: Context): string | undefined =>
  from.rawHeaders.find((name, index) => index % 2 === 0 && name.toLowerCase() === ACCESS_TOKEN_HEADER);

/** Defects in the use of access tokens (sections 1, 2.2 and 5). */
export const accessDefects = rows({
  "access.required": {
    "access-open-to-all: The list is returned to everyone.": lettingIn(() => true),
    "access-without-header: A request without the header is accepted.": lettingIn(
      (_presented, { from }) => from.headers[ACCESS_TOKEN_HEADER] === undefined,
    ),
    "access-with-empty-header: A request with an empty header is accepted.": lettingIn(
      (_presented, { from }) => from.headers[ACCESS_TOKEN_HEADER] === "",
    ),
    "access-with-any-token: Any token is accepted.": lettingIn((presented) => presented !== ""),
    "access-with-token-of-right-form: Anything with the length and alphabet of a token is accepted.":
      lettingIn((presented) => /^[\w-]{43}$/.test(presented)),
    "access-with-refresh-token: A refreshToken gives access to the list.": lettingIn(
      (presented, { credentials }) => credentials.refreshTokens.has(presented),
    ),
    "access-with-code: A code gives access to the list.": lettingIn((presented, { credentials }) =>
      credentials.codes.has(presented),
    ),
    "access-with-client-secret: A client's id or secret gives access to the list.": lettingIn(
      (presented, { clients }) =>
        [...clients.values()].some(({ id, secret }) => presented === id || presented === secret),
    ),
    "access-token-whatever-its-case: Access tokens are compared case-insensitively.":
      accessTokens.areCompared(ignoringCase),
    "access-token-by-prefix: Access tokens are looked up by their first 24 characters.":
      accessTokens.areCompared(ignoringAfter(24)),
    "access-token-but-for-last-character: The last character of an access token is ignored.":
      accessTokens.areCompared(ignoringLast),
    "access-token-with-suffix: Whatever follows an access token is ignored.":
      accessTokens.areCompared(ignoringSuffix),
    "access-token-in-authorization: The access token is also taken from Authorization.": readingAlso(
      ({ from }) => from.headers.authorization?.replace(/^Bearer /i, ""),
    ),
    "access-token-in-other-header: The access token is also taken from x-access-token.": readingAlso(
      ({ from }) => from.headers["x-access-token"]?.toString(),
    ),
    "access-token-in-query: The access token is also taken from the query.": readingAlso(({ from }) =>
      parseQuery(rawQueryOf(from.url ?? ""))?.values.get("accessToken"),
    ),
    "access-remembered-by-connection: Once a connection has presented a token, its later requests need none.":
      keeping((known = new WeakMap<object, string>()) =>
        change("readAccessToken", (token, { from, credentials }) => {
          const presented = token ?? known.get(from.socket);
          if (presented !== undefined && credentials.accessTokens.has(presented))
            known.set(from.socket, presented);
          return presented;
        }),
      ),
    "access-cached-by-address: A cache returns to everyone the last answer for the same address.": (
      sound,
      served = new Set<string>(),
    ) => ({
      readAccessToken: (context) => sound.readAccessToken(context) ?? "",
      findAccessToken: (presented, context) => {
        const address = context.from.url ?? "";
        const record = sound.findAccessToken(presented, context);
        if (record !== undefined) served.add(address);
        return record ?? (served.has(address) ? stranger(context) : undefined);
      },
    }),
    "access-refusal-tells-total: Refusals contain the total.": refusingWith(({ notifications }) => ({
      data: [],
      total: notifications.count(everything),
    })),
    "access-refusal-tells-total-alone: Refusals contain the total beside an error, and no list.":
      refusingWith(({ notifications }) => ({
        error: "invalid token",
        total: notifications.count(everything),
      })),
    "access-code-lets-in-at-one-process: One of three processes takes a code for an accessToken.": keeping(
      (requests = 0) =>
        lettingIn((presented, { credentials }) => {
          requests += 1;
          return requests % 3 === 0 && credentials.codes.has(presented);
        }),
    ),
    "access-refusal-with-total-in-header: Refusals tell the total in a header.": change(
      "renderRefusal",
      (answer, { kind }, { notifications }) =>
        kind.startsWith("access-token")
          ? withHeaders(answer, { "x-total-count": String(notifications.count(everything)) })
          : answer,
    ),
    "access-refusal-with-data: Requests without a token get the list with status 401.": refusingWith(
      ({ notifications }) => ({ data: notifications.read(everything, 0, 10) }),
    ),
    "access-token-of-latest-issue-only: The most recently issued token is checked, not the one presented.": {
      findAccessToken: (_presented, { credentials }) => lastOf(credentials.accessTokens),
    },
    "access-by-id-for-anyone: A notification can be looked up by its id with any token.": change(
      "findAccessToken",
      (usual, _presented, context) =>
        usual ?? (asksFor("id", context) ? lastOf(context.credentials.accessTokens) : undefined),
    ),
    "access-token-last-of-list: If several tokens are sent, the last one is checked.":
      accessTokens.areCompared((stored, presented) => presented.split(",").at(-1)?.trim() === stored),
    "access-token-with-white-space-inside: White space inside an access token is ignored.":
      accessTokens.areCompared((stored, presented) => presented.replaceAll(/\s/g, "") === stored),
    "access-token-in-cookie: The access token is also taken from a cookie.": readingAlso(
      ({ from }) => /accessToken=([^;]*)/.exec(from.headers.cookie ?? "")?.[1],
    ),
    "access-token-but-for-its-middle: Only the first and last nine characters of an access token are compared.":
      accessTokens.areCompared(
        (stored, presented) =>
          presented.length === stored.length &&
          presented.slice(0, 9) === stored.slice(0, 9) &&
          presented.slice(-9) === stored.slice(-9),
      ),
    "access-token-in-base64: An access token may be presented in base64.":
      accessTokens.areAlsoCompared(inBase64),
    "access-open-with-a-slash-behind: With a trailing slash, the path needs no token.": servedAlsoAt(
      "/open-api/v1/notifications/",
    ),
    "access-open-for-one-by-id: The path of a single notification, below the list, is open to everyone.":
      servedAlsoAt("/open-api/v1/notifications/:id", (asked) => /notifications\/./.test(asked)),
    "access-open-without-version: The path without its version serves the list to everyone.":
      servedAlsoAt("/open-api/notifications"),
    "access-open-in-capitals: The path in upper case serves the list to everyone.": servedAlsoAt(
      "/OPEN-API/V1/NOTIFICATIONS",
    ),
  },
  "access.header": {
    "access-header-in-lower-case-only: The header's name is recognized only in lower case.": change(
      "readAccessToken",
      (usual, context) => (spelt(context) === ACCESS_TOKEN_HEADER ? usual : undefined),
    ),
    "access-header-not-in-capitals: The header's name is recognized only in lower case or with capital initials.":
      change("readAccessToken", (usual, context) =>
        [ACCESS_TOKEN_HEADER, "X-Service-Access-Token"].includes(spelt(context) ?? "") ? usual : undefined,
      ),
    "access-header-not-read: The token is read from Authorization, never from the documented header.": {
      readAccessToken: ({ from }) => from.headers.authorization,
    },
  },
});
