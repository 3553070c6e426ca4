import type { Behaviour } from "../behaviour.ts";
import type { Context } from "../context.ts";
import type { AccessRecord } from "../credentials.ts";
import { jsonAnswer } from "../answer.ts";
import { parseQuery, rawQueryOf } from "../query.ts";
import { type Defect, defect } from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound/tokens.ts";
import { firstLike, HOUR_MS, lastOf, MINUTE_MS, SECOND_MS } from "./tools.ts";

/** A viewer who came in without any token of the service's. */
const stranger = ({ nowMs }: Context): AccessRecord => ({
  token: "",
  clientId: "",
  grant: { clientId: "", revoked: false },
  lifetimeMs: Infinity,
  refreshed: false,
  issuedAtMs: nowMs,
  revoked: false,
});

/** Tokens found by a comparison that is not equality. */
const comparing =
  (matches: (stored: string, presented: string) => boolean) => (): Pick<Behaviour, "findAccessToken"> => ({
    findAccessToken: (presented, { credentials }) => firstLike(credentials.accessTokens, presented, matches),
  });

/** Strangers let in when `lets` holds for what they presented; "" stands for no header at all. */
const lettingIn =
  (lets: (presented: string, context: Context) => boolean) =>
  (sound: Behaviour): Pick<Behaviour, "readAccessToken" | "findAccessToken"> => ({
    readAccessToken: (context) => sound.readAccessToken(context) ?? "",
    findAccessToken: (presented, context) =>
      sound.findAccessToken(presented, context) ?? (lets(presented, context) ? stranger(context) : undefined),
  });

/** Tokens read from somewhere else when the documented header is absent. */
const readingAlso =
  (read: (context: Context) => string | undefined) =>
  (sound: Behaviour): Pick<Behaviour, "readAccessToken"> => ({
    readAccessToken: (context) => sound.readAccessToken(context) ?? read(context),
  });

/** Access tokens that live for what `lifetimeMs` makes of their promised life. */
const livingFor =
  (lifetimeMs: (record: AccessRecord) => number) => (): Pick<Behaviour, "accessTokenIsAlive"> => ({
    accessTokenIsAlive: (record, { nowMs }) =>
      !record.revoked && !record.grant.revoked && nowMs - record.issuedAtMs < lifetimeMs(record),
  });

/** Header names as the request spelt them. */
const spelt = ({ from }: Context): string | undefined =>
  from.rawHeaders.find((name, index) => index % 2 === 0 && name.toLowerCase() === ACCESS_TOKEN_HEADER);

/** The access token at work (sections 2.2 and 5) gone wrong. */
export const accessDefects = {
  "access-open-to-all": defect(
    "The list is given to everyone.",
    ["access.required"],
    lettingIn(() => true),
  ),
  "access-without-header": defect(
    "A request without the header is let in.",
    ["access.required"],
    lettingIn((_presented, { from }) => from.headers[ACCESS_TOKEN_HEADER] === undefined),
  ),
  "access-with-empty-header": defect(
    "A request with an empty header is let in.",
    ["access.required"],
    lettingIn((_presented, { from }) => from.headers[ACCESS_TOKEN_HEADER] === ""),
  ),
  "access-with-any-token": defect(
    "Whatever the header holds, it is let in.",
    ["access.required"],
    lettingIn((presented) => presented !== ""),
  ),
  "access-with-token-of-right-form": defect(
    "What has the length and alphabet of a token is let in.",
    ["access.required"],
    lettingIn((presented) => /^[\w-]{43}$/.test(presented)),
  ),
  "access-with-refresh-token": defect(
    "A refreshToken opens the list.",
    ["access.required"],
    lettingIn((presented, { credentials }) => credentials.refreshTokens.has(presented)),
  ),
  "access-with-code": defect(
    "A code opens the list.",
    ["access.required"],
    lettingIn((presented, { credentials }) => credentials.codes.has(presented)),
  ),
  "access-with-client-secret": defect(
    "A client's id or secret opens the list.",
    ["access.required"],
    lettingIn((presented, { clients }) =>
      [...clients.values()].some(({ id, secret }) => presented === id || presented === secret),
    ),
  ),
  "access-token-whatever-its-case": defect(
    "Access tokens are compared without regard to case.",
    ["access.required"],
    comparing((stored, presented) => stored.toLowerCase() === presented.toLowerCase()),
  ),
  "access-token-by-prefix": defect(
    "Access tokens are found by their first 24 characters.",
    ["access.required"],
    comparing((stored, presented) => presented.length >= 24 && stored.startsWith(presented.slice(0, 24))),
  ),
  "access-token-but-for-last-character": defect(
    "The last character of an access token is not compared.",
    ["access.required"],
    comparing((stored, presented) => presented.slice(0, 42) === stored.slice(0, 42)),
  ),
  "access-token-with-suffix": defect(
    "Whatever follows an access token is ignored.",
    ["access.required"],
    comparing((stored, presented) => presented.startsWith(stored)),
  ),
  "access-token-in-authorization": defect(
    "The access token is also taken from Authorization.",
    ["access.required"],
    readingAlso(({ from }) => from.headers.authorization?.replace(/^Bearer /i, "")),
  ),
  "access-token-in-other-header": defect(
    "The access token is also taken from x-access-token.",
    ["access.required"],
    readingAlso(({ from }) => from.headers["x-access-token"]?.toString()),
  ),
  "access-token-in-query": defect(
    "The access token is also taken from the query.",
    ["access.required"],
    readingAlso(({ from }) => parseQuery(rawQueryOf(from.url ?? ""))?.values.get("accessToken")),
  ),
  "access-remembered-by-connection": defect(
    "A connection that has shown a token once needs none after that.",
    ["access.required"],
    (sound) => {
      const known = new WeakMap<object, string>();
      return {
        readAccessToken: (context) => {
          const presented = sound.readAccessToken(context) ?? known.get(context.from.socket);
          if (presented !== undefined && context.credentials.accessTokens.has(presented)) {
            known.set(context.from.socket, presented);
          }
          return presented;
        },
      };
    },
  ),
  "access-cached-by-address": defect(
    "A cache gives everyone what was last given for the same address.",
    ["access.required"],
    (sound) => {
      const served = new Set<string>();
      return {
        readAccessToken: (context) => sound.readAccessToken(context) ?? "",
        findAccessToken: (presented, context) => {
          const address = context.from.url ?? "";
          const record = sound.findAccessToken(presented, context);
          if (record !== undefined) served.add(address);
          return record ?? (served.has(address) ? stranger(context) : undefined);
        },
      };
    },
  ),
  "access-refusal-tells-total": defect(
    "A refused request is told the total.",
    ["access.required"],
    (sound) => ({
      renderRefusal: (refusal, context) =>
        refusal.kind.startsWith("access-token")
          ? jsonAnswer(401, {
              error: refusal.kind,
              data: [],
              total: context.notifications.count({ where: "TRUE", parameters: [], orderBy: "sequence" }),
            })
          : sound.renderRefusal(refusal, context),
    }),
  ),
  "access-refusal-with-data": defect(
    "The list is given with status 401 to those who have no token.",
    ["access.required"],
    (sound) => ({
      renderRefusal: (refusal, context) =>
        refusal.kind.startsWith("access-token")
          ? jsonAnswer(401, {
              error: refusal.kind,
              data: context.notifications.read({ where: "TRUE", parameters: [], orderBy: "sequence" }, 0, 10),
            })
          : sound.renderRefusal(refusal, context),
    }),
  ),

  "access-dies-a-second-early": defect(
    "An accessToken dies a second before expiresIn is over.",
    ["access.lifetime"],
    livingFor(({ lifetimeMs }) => lifetimeMs - SECOND_MS),
  ),
  "access-dies-at-half-time": defect(
    "An accessToken dies when half of expiresIn is over.",
    ["access.lifetime"],
    livingFor(({ lifetimeMs }) => lifetimeMs / 2),
  ),
  "access-lives-a-second-longer": defect(
    "An accessToken lives a second longer than expiresIn.",
    ["access.lifetime"],
    livingFor(({ lifetimeMs }) => lifetimeMs + SECOND_MS),
  ),
  "access-lives-five-minutes-longer": defect(
    "Five minutes of leeway are granted to every accessToken.",
    ["access.lifetime"],
    livingFor(({ lifetimeMs }) => lifetimeMs + 5 * MINUTE_MS),
  ),
  "access-lives-for-ever": defect(
    "An accessToken never expires.",
    ["access.lifetime"],
    livingFor(() => Infinity),
  ),
  "access-of-refresh-lives-twice-as-long": defect(
    "The accessToken of a refresh lives twice as long as it says.",
    ["access.lifetime"],
    livingFor(({ lifetimeMs, refreshed }) => (refreshed ? 2 : 1) * lifetimeMs),
  ),
  "access-of-refresh-dies-within-the-hour": defect(
    "The accessToken of a refresh lives for one hour and says two.",
    ["access.lifetime"],
    livingFor(({ lifetimeMs, refreshed }) => (refreshed ? HOUR_MS : lifetimeMs)),
  ),
  "access-of-refresh-ends-with-first": defect(
    "The accessToken of a refresh ends when the one before it would have.",
    ["access.lifetime"],
    () => ({
      afterRefresh: (record, previous) => {
        record.latestAccess.issuedAtMs = previous.issuedAtMs;
      },
    }),
  ),
  "access-prolonged-by-use": defect(
    "Each use of an accessToken starts its life again.",
    ["access.lifetime"],
    (sound) => ({
      accessTokenIsAlive: (record, context) => {
        const alive = sound.accessTokenIsAlive(record, context);
        if (alive) record.issuedAtMs = context.nowMs;
        return alive;
      },
    }),
  ),
  "access-dies-idle": defect(
    "An accessToken dies when it is not used for half an hour.",
    ["access.lifetime"],
    (sound) => {
      const usedAtMs = new WeakMap<AccessRecord, number>();
      return {
        accessTokenIsAlive: (record, context) => {
          const idleMs = context.nowMs - (usedAtMs.get(record) ?? record.issuedAtMs);
          const alive = idleMs < 30 * MINUTE_MS && sound.accessTokenIsAlive(record, context);
          if (alive) usedAtMs.set(record, context.nowMs);
          return alive;
        },
      };
    },
  ),
  "access-cached-beyond-expiry": defect(
    "A token that was accepted is accepted for ten minutes without another look.",
    ["access.lifetime"],
    (sound) => {
      const seenAtMs = new WeakMap<AccessRecord, number>();
      return {
        accessTokenIsAlive: (record, context) => {
          const sinceMs = context.nowMs - (seenAtMs.get(record) ?? -Infinity);
          if (sinceMs < 10 * MINUTE_MS) return true;
          const alive = sound.accessTokenIsAlive(record, context);
          if (alive) seenAtMs.set(record, context.nowMs);
          return alive;
        },
      };
    },
  ),
  "access-expires-in-milliseconds": defect(
    "expiresIn is given in milliseconds.",
    ["access.lifetime"],
    () => ({ expiresIn: (lifetimeMs) => lifetimeMs }),
  ),
  "access-expires-in-minutes": defect("expiresIn is given in minutes.", ["access.lifetime"], () => ({
    expiresIn: (lifetimeMs) => lifetimeMs / MINUTE_MS,
  })),

  "access-header-in-lower-case-only": defect(
    "The header's name is compared as it is spelt, in lower case.",
    ["access.header"],
    (sound) => ({
      readAccessToken: (context) =>
        spelt(context) === ACCESS_TOKEN_HEADER ? sound.readAccessToken(context) : undefined,
    }),
  ),
  "access-header-not-in-capitals": defect(
    "The header's name is found in lower case and with capital initials, and in no other spelling.",
    ["access.header"],
    (sound) => ({
      readAccessToken: (context) =>
        [ACCESS_TOKEN_HEADER, "X-Service-Access-Token"].includes(spelt(context) ?? "")
          ? sound.readAccessToken(context)
          : undefined,
    }),
  ),
  "access-token-of-latest-issue-only": defect(
    "Whatever token is shown, the one that was issued last is looked at.",
    ["access.required"],
    () => ({ findAccessToken: (_presented, { credentials }) => lastOf(credentials.accessTokens) }),
  ),
} satisfies Record<string, Defect>;
