import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { AccessRecord, Context, RefreshRecord } from "../context.ts";
import { jsonAnswer, withHeaders } from "../answer.ts";
import { everything } from "../notifications.ts";
import { parseQuery, rawQueryOf } from "../query.ts";
import {
  afterwards,
  agedBy,
  alsoIf,
  change,
  decide,
  decisions,
  keeping,
  livesFor,
  livesWhile,
  onlyIf,
  type Replacement,
  rows,
  together,
} from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound/tokens.ts";
import {
  asksFor,
  counted,
  firstLike,
  fromBase64,
  ignoringAfter,
  ignoringCase,
  ignoringSuffix,
  inOneStore,
  keepLatestOf,
  lastOf,
  stranger,
} from "../changes.ts";

const lives = (lifetimeMs: number | ((record: AccessRecord) => number)): Replacement =>
  livesFor("accessTokenIsAlive", lifetimeMs);

const livesLonger = (byMs: number): Replacement => lives(({ lifetimeMs }) => lifetimeMs + byMs);

const comparing = (matches: (stored: string, presented: string) => boolean): Replacement =>
  decide("findAccessToken", (presented, { credentials }) =>
    firstLike(credentials.accessTokens, presented, matches),
  );

/** Strangers are admitted if `lets` holds for what they presented; "" stands for no header. */
const lettingIn = (lets: (presented: string, context: Context) => boolean): Replacement =>
  decisions((sound) => ({
    readAccessToken: (context) => sound.readAccessToken(context) ?? "",
    findAccessToken: (presented, context) =>
      sound.findAccessToken(presented, context) ?? (lets(presented, context) ? stranger(context) : undefined),
  }));

/** Without the header, the token is read from elsewhere. */
const readingAlso = (read: (context: Context) => string | undefined): Replacement =>
  change("readAccessToken", (token, context) => token ?? read(context));

/** Serves the list under another path as well, without requiring a token. */
const servedAlsoAt = (
  path: string,
  matches: (asked: string) => boolean = (asked) => asked === path,
): Replacement =>
  decisions((sound) => {
    const isThere = ({ from }: Context): boolean => matches(from.url?.split("?")[0] ?? "");
    return {
      pathsOf: (operation) => [...sound.pathsOf(operation), ...(operation === "list" ? [path] : [])],
      readAccessToken: (context) => (isThere(context) ? "" : sound.readAccessToken(context)),
      findAccessToken: (presented, context) =>
        isThere(context) ? stranger(context) : sound.findAccessToken(presented, context),
    };
  });

/** Refusals for a missing token that reveal something about the list. */
const refusingWith = (told: (context: Context) => object): Replacement =>
  change("renderRefusal", (answer, { kind }, context) =>
    kind.startsWith("access-token") ? jsonAnswer(401, { error: kind, ...told(context) }) : answer,
  );

const usableTimes = (most: number): Replacement =>
  keeping((uses = counted()) => onlyIf("accessTokenIsAlive", (record) => uses(record) <= most));

/** A client has at most this many access tokens. */
const keepingOfClient = (most: number): Replacement =>
  afterwards("keepAccessToken", ({ clientId }, { credentials }) =>
    keepLatestOf(credentials.accessTokens, clientId, most),
  );

/** Header names as spelt in the request. */
const spelt = ({ from }: Context): string | undefined =>
  from.rawHeaders.find((name, index) => index % 2 === 0 && name.toLowerCase() === ACCESS_TOKEN_HEADER);

/** Access tokens live for a fraction or multiple of their promised life, depending on their refresh. */
const livingBy = (
  part: number,
  marks: (record: RefreshRecord, previous: AccessRecord, refreshes: number, nowMs: number) => boolean,
): Replacement =>
  keeping((uses = counted(), marked = new WeakSet<AccessRecord>()) =>
    together(
      afterwards("afterRefresh", (record, previous, { nowMs }) => {
        if (marks(record, previous, uses(record), nowMs)) marked.add(record.latestAccess);
      }),
      agedBy("accessTokenIsAlive", (record, { nowMs }) =>
        marked.has(record) ? (nowMs - record.issuedAtMs) * (1 / part - 1) : 0,
      ),
    ),
  );

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
    "access-token-whatever-its-case: Access tokens are compared case-insensitively.": comparing(ignoringCase),
    "access-token-by-prefix: Access tokens are looked up by their first 24 characters.": comparing(
      ignoringAfter(24),
    ),
    "access-token-but-for-last-character: The last character of an access token is ignored.": comparing(
      (stored, presented) => presented.slice(0, 42) === stored.slice(0, 42),
    ),
    "access-token-with-suffix: Whatever follows an access token is ignored.": comparing(ignoringSuffix),
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
    "access-token-in-base64: An access token may be presented in base64.": change(
      "findAccessToken",
      (usual, presented, { credentials }) => usual ?? credentials.accessTokens.get(fromBase64(presented)),
    ),
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
  "access.lifetime": {
    "access-dies-a-second-early: An accessToken expires a second before expiresIn has passed.":
      livesLonger(-SECOND_MS),
    "access-dies-at-half-time: An accessToken expires after half of expiresIn.": lives(
      ({ lifetimeMs }) => lifetimeMs / 2,
    ),
    "access-lives-a-second-longer: An accessToken works a second longer than expiresIn.":
      livesLonger(SECOND_MS),
    "access-lives-five-minutes-longer: Every accessToken gets five minutes of leeway.": livesLonger(
      5 * MINUTE_MS,
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
    "access-dies-idle: An accessToken expires if it is not used for half an hour.": keeping(
      (usedAtMs = new WeakMap<AccessRecord, number>()) =>
        onlyIf("accessTokenIsAlive", (record, { nowMs }) => {
          const alive = nowMs - (usedAtMs.get(record) ?? record.issuedAtMs) < 30 * MINUTE_MS;
          if (alive) usedAtMs.set(record, nowMs);
          return alive;
        }),
    ),
    "access-cached-beyond-expiry: An accepted token stays accepted for ten minutes.": keeping(
      (seenAtMs = new WeakMap<AccessRecord, number>()) =>
        change("accessTokenIsAlive", (alive, record, { nowMs }) => {
          const isCached = nowMs - (seenAtMs.get(record) ?? -Infinity) < 10 * MINUTE_MS;
          if (alive && !isCached) seenAtMs.set(record, nowMs);
          return alive || isCached;
        }),
    ),
    "access-cached-by-process-beyond-expiry: Each of eight processes accepts a token for five seconds more that it has accepted.":
      keeping((requests = 0, seenAtMs = new WeakMap<AccessRecord, Map<number, number>>()) =>
        change("accessTokenIsAlive", (alive, record, { nowMs }) => {
          requests += 1;
          const worker = requests % 8;
          const seen = seenAtMs.get(record) ?? new Map<number, number>();
          seenAtMs.set(record, seen);
          const isCached = nowMs - (seen.get(worker) ?? -Infinity) < 5 * SECOND_MS;
          if (alive && !isCached) seen.set(worker, nowMs);
          return alive || isCached;
        }),
      ),
    "access-expires-in-milliseconds: expiresIn is in milliseconds.": decide("expiresIn", (ms) => ms),
    "access-expires-in-microseconds: expiresIn is in microseconds, which means centuries.": decide(
      "expiresIn",
      (lifetimeMs) => lifetimeMs * 1_000,
    ),
    "access-expires-in-minutes: expiresIn is in minutes.": decide("expiresIn", (ms) => ms / MINUTE_MS),
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
    "refreshed-again-lives-twice-as-long: From the second refresh on, accessTokens work twice as long as expiresIn.":
      livingBy(2, (_record, _previous, refreshes) => refreshes > 1),
    "refreshed-tenth-time-lives-twice-as-long: From the tenth refresh on, accessTokens work twice as long as expiresIn.":
      livingBy(2, (_record, _previous, refreshes) => refreshes >= 10),
    "refreshed-late-lives-half-as-long: After a late refresh, accessTokens work for half of expiresIn.":
      livingBy(
        0.5,
        (_record, previous, _refreshes, nowMs) => nowMs - previous.issuedAtMs > previous.lifetimeMs,
      ),
    "refreshed-within-a-minute-is-the-same-token: A second refresh within a minute returns the same accessToken and expiresIn.":
      afterwards("afterRefresh", (record, previous, context) => {
        if (previous.refreshed && context.nowMs - previous.issuedAtMs < MINUTE_MS)
          record.latestAccess = previous;
      }),
    "access-token-lives-by-time-of-day: An accessToken's age is computed from the time of day.": livesWhile(
      "accessTokenIsAlive",
      (record, { nowMs }) =>
        nowMs - record.issuedAtMs < DAY_MS &&
        (nowMs % DAY_MS) - (record.issuedAtMs % DAY_MS) < record.lifetimeMs,
    ),
    "access-token-lives-by-seconds-of-its-age: Of an accessToken's age only the seconds count, without the days, so it works again every day.":
      livesWhile(
        "accessTokenIsAlive",
        (record, { nowMs }) => (nowMs - record.issuedAtMs) % DAY_MS < record.lifetimeMs,
      ),
    "access-token-of-one-store-dies-early: Every eighth accessToken ends a minute early.": inOneStore(
      "keepAccessToken",
      "accessTokenIsAlive",
      -MINUTE_MS,
    ),
    "access-token-of-one-store-lives-longer: Every eighth accessToken works a minute longer.": inOneStore(
      "keepAccessToken",
      "accessTokenIsAlive",
      MINUTE_MS,
    ),
    "access-tokens-four-at-a-time: A client has at most four access tokens; a new one invalidates the oldest.":
      keepingOfClient(4),
    "access-tokens-fifty-of-a-client: A client has at most fifty access tokens; a new one invalidates the oldest.":
      keepingOfClient(50),
    "access-expired-reads-by-id: An expired access token still reads notifications by id.": alsoIf(
      "accessTokenIsAlive",
      (_record, context) => asksFor("id", context),
    ),
    "access-expired-reads-later-pages: An expired access token still reads all pages but the first.": alsoIf(
      "accessTokenIsAlive",
      (_record, { from }) => /[?&]page=[1-9]/.test(from.url ?? ""),
    ),
    "access-token-of-an-earlier-month: An accessToken works again once it is 25 days old.": alsoIf(
      "accessTokenIsAlive",
      (record, { nowMs }) => nowMs - record.issuedAtMs > 25 * DAY_MS,
    ),
    "access-token-of-hundred-requests: An accessToken works for only a hundred requests.": usableTimes(100),
    "access-token-for-fifty-requests: An accessToken works for only fifty requests.": usableTimes(50),
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
