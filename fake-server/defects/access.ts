import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Context, AccessRecord } from "../context.ts";
import { jsonAnswer } from "../answer.ts";
import { EVERYTHING } from "../notifications.ts";
import { parseQuery, rawQueryOf } from "../query.ts";
import { afterwards, change, decide, decisions, livesFor, type Replacement, rows } from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound/tokens.ts";
import { careless, asksFor, firstLike, lastOf, stranger } from "./tools.ts";

const lives = (lifetimeMs: number | ((record: AccessRecord) => number)): Replacement =>
  livesFor("accessTokenIsAlive", lifetimeMs);

const comparing = (matches: (stored: string, presented: string) => boolean): Replacement =>
  decide("findAccessToken", (presented, { credentials }) =>
    firstLike(credentials.accessTokens, presented, matches),
  );

/** Strangers let in when `lets` holds for what they presented; "" stands for no header at all. */
const lettingIn = (lets: (presented: string, context: Context) => boolean): Replacement =>
  decisions((sound) => ({
    readAccessToken: (context) => sound.readAccessToken(context) ?? "",
    findAccessToken: (presented, context) =>
      sound.findAccessToken(presented, context) ?? (lets(presented, context) ? stranger(context) : undefined),
  }));

/** Strangers are admitted if `lets` holds for what they presented; "" stands for no header. */
const readingAlso = (read: (context: Context) => string | undefined): Replacement =>
  change("readAccessToken", (token, context) => token ?? read(context));

/** Refusals for a missing token that reveal something about the list. */
const refusingWith = (told: (context: Context) => object): Replacement =>
  change("renderRefusal", (answer, { kind }, context) =>
    kind.startsWith("access-token") ? jsonAnswer(401, { error: kind, ...told(context) }) : answer,
  );
const everything = { where: EVERYTHING, parameters: [], orderBy: "sequence" };

/** Header names as spelt in the request. */
const spelt = ({ from }: Context): string | undefined =>
  from.rawHeaders.find((name, index) => index % 2 === 0 && name.toLowerCase() === ACCESS_TOKEN_HEADER);

/** Defects in the use of access tokens (sections 2.2 and 5). */
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
    "access-token-whatever-its-case: Access tokens are compared case-insensitively.": comparing(
      careless.ofCase,
    ),
    "access-token-by-prefix: Access tokens are looked up by their first 24 characters.": comparing(
      careless.beyond(24),
    ),
    "access-token-but-for-last-character: The last character of an access token is ignored.": comparing(
      (stored, presented) => presented.slice(0, 42) === stored.slice(0, 42),
    ),
    "access-token-with-suffix: Whatever follows an access token is ignored.": comparing(careless.ofSuffix),
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
      decisions((sound, known = new WeakMap<object, string>()) => ({
        readAccessToken: (context) => {
          const presented = sound.readAccessToken(context) ?? known.get(context.from.socket);
          if (presented !== undefined && context.credentials.accessTokens.has(presented)) {
            known.set(context.from.socket, presented);
          }
          return presented;
        },
      })),
    "access-cached-by-address: A cache returns to everyone the last answer for the same address.": decisions(
      (sound, served = new Set<string>()) => ({
        readAccessToken: (context) => sound.readAccessToken(context) ?? "",
        findAccessToken: (presented, context) => {
          const address = context.from.url ?? "";
          const record = sound.findAccessToken(presented, context);
          if (record !== undefined) served.add(address);
          return record ?? (served.has(address) ? stranger(context) : undefined);
        },
      }),
    ),
    "access-refusal-tells-total: Refusals contain the total.": refusingWith(({ notifications }) => ({
      data: [],
      total: notifications.count(everything),
    })),
    "access-refusal-with-data: Requests without a token get the list with status 401.": refusingWith(
      ({ notifications }) => ({ data: notifications.read(everything, 0, 10) }),
    ),
    "access-token-of-latest-issue-only: The most recently issued token is checked, not the one presented.":
      decide("findAccessToken", (_presented, { credentials }) => lastOf(credentials.accessTokens)),
    "access-by-id-for-anyone: A notification can be looked up by its id with any token.": change(
      "findAccessToken",
      (usual, _presented, context) =>
        usual ?? (asksFor("id", context) ? lastOf(context.credentials.accessTokens) : undefined),
    ),
    "access-token-last-of-list: If several tokens are sent, the last one is checked.": comparing(
      (stored, presented) => presented.split(",").at(-1)?.trim() === stored,
    ),
    "access-token-with-white-space-inside: White space inside an access token is ignored.": comparing(
      (stored, presented) => presented.replaceAll(/\s/g, "") === stored,
    ),
    "access-token-in-cookie: The access token is also taken from a cookie.": readingAlso(
      ({ from }) => /accessToken=([^;]*)/.exec(from.headers.cookie ?? "")?.[1],
    ),
    "access-token-but-for-its-middle: Only the first and last nine characters of an access token are compared.":
      comparing(
        (stored, presented) =>
          presented.length === stored.length &&
          presented.slice(0, 9) === stored.slice(0, 9) &&
          presented.slice(-9) === stored.slice(-9),
      ),
  },
  "access.lifetime": {
    "access-dies-a-second-early: An accessToken expires a second before expiresIn has passed.": lives(
      ({ lifetimeMs }) => lifetimeMs - SECOND_MS,
    ),
    "access-dies-at-half-time: An accessToken expires after half of expiresIn.": lives(
      ({ lifetimeMs }) => lifetimeMs / 2,
    ),
    "access-lives-a-second-longer: An accessToken works a second longer than expiresIn.": lives(
      ({ lifetimeMs }) => lifetimeMs + SECOND_MS,
    ),
    "access-lives-five-minutes-longer: Every accessToken gets five minutes of leeway.": lives(
      ({ lifetimeMs }) => lifetimeMs + 5 * MINUTE_MS,
    ),
    "access-lives-for-ever: An accessToken never expires.": lives(Infinity),
    "access-of-refresh-lives-twice-as-long: The accessToken of a refresh works twice as long as stated.":
      lives(({ lifetimeMs, refreshed }) => (refreshed ? 2 : 1) * lifetimeMs),
    "access-of-refresh-dies-within-the-hour: The accessToken of a refresh works for one hour but states two.":
      lives(({ lifetimeMs, refreshed }) => (refreshed ? HOUR_MS : lifetimeMs)),
    "access-of-refresh-ends-with-first: The accessToken of a refresh expires together with the previous one.":
      decide("afterRefresh", (record, previous) => {
        record.latestAccess.issuedAtMs = previous.issuedAtMs;
      }),
    "access-prolonged-by-use: Each use of an accessToken restarts its lifetime.": change(
      "accessTokenIsAlive",
      (alive, record, context) => {
        if (alive) record.issuedAtMs = context.nowMs;
        return alive;
      },
    ),
    "access-dies-idle: An accessToken expires if it is not used for half an hour.": decisions(
      (sound, usedAtMs = new WeakMap<AccessRecord, number>()) => ({
        accessTokenIsAlive: (record, context) => {
          const idleMs = context.nowMs - (usedAtMs.get(record) ?? record.issuedAtMs);
          const alive = idleMs < 30 * MINUTE_MS && sound.accessTokenIsAlive(record, context);
          if (alive) usedAtMs.set(record, context.nowMs);
          return alive;
        },
      }),
    ),
    "access-cached-beyond-expiry: An accepted token stays accepted for ten minutes.": decisions(
      (sound, seenAtMs = new WeakMap<AccessRecord, number>()) => ({
        accessTokenIsAlive: (record, context) => {
          const sinceMs = context.nowMs - (seenAtMs.get(record) ?? -Infinity);
          if (sinceMs < 10 * MINUTE_MS) return true;
          const alive = sound.accessTokenIsAlive(record, context);
          if (alive) seenAtMs.set(record, context.nowMs);
          return alive;
        },
      }),
    ),
    "access-expires-in-milliseconds: expiresIn is in milliseconds.": decide(
      "expiresIn",
      (lifetimeMs) => lifetimeMs,
    ),
    "access-expires-in-microseconds: expiresIn is in microseconds, which means centuries.": decide(
      "expiresIn",
      (lifetimeMs) => lifetimeMs * 1_000,
    ),
    "access-expires-in-minutes: expiresIn is in minutes.": decide(
      "expiresIn",
      (lifetimeMs) => lifetimeMs / MINUTE_MS,
    ),
    "access-counted-from-authorization: The lifetime of an accessToken counts from the authorization.":
      afterwards("afterExchange", (code, tokens) => {
        tokens.latestAccess.issuedAtMs = code.issuedAtMs;
      }),
    "access-renewed-in-its-last-minute: An accessToken used in its last minute is renewed.": change(
      "accessTokenIsAlive",
      (alive, record, { nowMs }) => {
        if (alive && nowMs - record.issuedAtMs > record.lifetimeMs - MINUTE_MS) record.issuedAtMs = nowMs;
        return alive;
      },
    ),
    "access-renewed-by-refresh: A refresh restarts the lifetime of the earlier accessToken.": decide(
      "afterRefresh",
      (_record, previous, { nowMs }) => {
        previous.issuedAtMs = nowMs;
      },
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
    "access-header-not-read: The token is read from Authorization, never from the documented header.": decide(
      "readAccessToken",
      ({ from }) => from.headers.authorization,
    ),
  },
});
