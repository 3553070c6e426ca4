import { createHash } from "node:crypto";
import { DAY_MS, MINUTE_MS } from "../../conformance/contract/duration.ts";
import { withHeaders } from "../answer.ts";
import type { RefreshRecord } from "../context.ts";
import { afterwards, change, decide, decisions, alsoIf, type Replacement, rows } from "../registry.ts";
import { asksFor, counted, firstLike } from "./tools.ts";

const fromBase64 = (text: string): string => Buffer.from(text, "base64").toString();

const codeFoundBy = (matches: (stored: string, presented: string) => boolean): Replacement =>
  change(
    "findCode",
    (usual, presented, { credentials }) => usual ?? firstLike(credentials.codes, presented, matches),
  );

const secretAlsoIf = (matches: (secret: string, presented: string) => boolean): Replacement =>
  change("authenticateClient", (usual, clientId, presented, clients) => {
    const client = typeof clientId === "string" ? clients.get(clientId) : undefined;
    return typeof presented === "string" && client !== undefined && matches(client.secret, presented)
      ? client
      : usual;
  });

const refreshAdds = (from: number, added: (tokens: RefreshRecord) => object): Replacement =>
  decisions((sound, uses = counted()) => ({
    refreshFields: (tokens, ...more) => ({
      ...sound.refreshFields(tokens, ...more),
      ...(uses(tokens) >= from ? added(tokens) : {}),
    }),
  }));

const latest = <R extends { readonly clientId: string }>(
  records: Map<string, R>,
  clientId: string,
  kept: number,
): void => {
  const own = [...records].filter(([, record]) => record.clientId === clientId);
  for (const [key] of own.slice(0, -kept)) records.delete(key);
};

/** Defects of services written from the document alone, which earlier rules did not detect. */
export const independentDefects = rows({
  "code.single-use": {
    "code-reusable-nine-minutes-later: Used codes are remembered for only nine minutes.": decide(
      "takeCode",
      (record, { nowMs }) => {
        if (record.usedAtMs !== undefined && nowMs - record.usedAtMs < 9 * MINUTE_MS) return false;
        record.usedAtMs = nowMs;
        return true;
      },
    ),
    "code-reusable-at-tenth-attempt: The tenth exchange of a code succeeds.": decisions(
      (sound, attempts = counted()) => ({
        takeCode: (record, context) => sound.takeCode(record, context) || attempts(record) === 9,
      }),
    ),
  },
  "code.lifetime": {
    "code-age-in-32-bits: The age of a code is stored in 32 bits, so it is negative after 25 days.": decide(
      "codeIsAlive",
      (record, { nowMs, limits }) => ((nowMs - record.issuedAtMs) | 0) < limits.codeLifetimeMs,
    ),
    "code-for-long-state-dies-early: A code expires after nine minutes if its state is longer than 100 characters.":
      decisions((sound) => ({
        codeIsAlive: (record, context) =>
          sound.codeIsAlive(record, {
            ...context,
            nowMs: context.nowMs + (record.state.length > 100 ? MINUTE_MS : 0),
          }),
      })),
  },
  "code.independence": {
    "codes-thirty-of-a-client: A client has at most thirty codes; a new one invalidates the oldest.":
      afterwards("keepCode", ({ clientId }, { credentials }) => latest(credentials.codes, clientId, 30)),
  },
  "code.unknown": {
    "code-in-base64: A code may be presented in base64.": codeFoundBy(
      (stored, presented) => fromBase64(presented) === stored,
    ),
    "code-in-address: The address of a redirect is accepted in place of its code.": codeFoundBy(
      (stored, presented) => presented.endsWith(`code=${stored}`),
    ),
  },
  "exchange.authenticates-client": {
    "secret-by-its-hash: The stored hash of a secret is accepted in its place.": secretAlsoIf(
      (secret, presented) => createHash("sha256").update(secret).digest("hex") === presented,
    ),
    "secret-of-great-length: Secrets of more than four thousand characters are not compared.": secretAlsoIf(
      (_secret, presented) => presented.length > 4_096,
    ),
  },
  "exchange.refusal-leaks-nothing": {
    "refusal-shows-secret-in-base64: Refusals show the secrets of all clients in base64.": change(
      "renderRefusal",
      (answer, _refusal, { clients }) =>
        withHeaders(answer, {
          "x-debug": [...clients.values()].map(({ secret }) => btoa(secret)).join(" "),
        }),
    ),
  },
  "notifications.shape": {
    "item-of-yesterday-from-an-archive: A notification older than a day comes from an archive, without data.":
      change("item", (usual, { createTime }, { nowMs }) =>
        nowMs - Date.parse(createTime) > DAY_MS && typeof usual === "object"
          ? { ...usual, data: null }
          : usual,
      ),
  },
  "refresh.returns-no-refresh-token": {
    "refresh-returns-another-in-name-of-the-rfc: A refresh returns a refresh_token that must be activated.":
      refreshAdds(1, ({ token }) => ({ refresh_token: token.split("").toReversed().join("") })),
    "refresh-returns-refresh-token-within-another: A refresh returns the refreshToken in an identity token.":
      refreshAdds(1, ({ token }) => ({ idToken: `head.${token}.signature` })),
    "refresh-returns-refresh-token-from-sixteenth: The sixteenth and later refreshes return the refreshToken.":
      refreshAdds(16, ({ token }) => ({ refreshToken: token })),
  },
  "refresh.reusable": {
    "refresh-four-at-a-time: While four refreshes of a token run, a fifth one is refused.": decisions(() => {
      const running = new WeakMap<RefreshRecord, number>();
      const add = (record: RefreshRecord, more: number): number => {
        const count = (running.get(record) ?? 0) + more;
        running.set(record, count);
        return count;
      };
      return {
        takeRefreshToken: async (record, { clock }) => {
          const isFree = add(record, 1) <= 4;
          await clock.pause(4);
          add(record, -1);
          return isFree;
        },
      };
    }),
    "refresh-tokens-fifty-of-a-client: A client has at most fifty refreshTokens; a new one invalidates the oldest.":
      afterwards("keepRefreshToken", ({ clientId }, { credentials }) =>
        latest(credentials.refreshTokens, clientId, 50),
      ),
  },
  "refresh.lifetime": {
    "refresh-token-age-in-32-bits: A refreshToken's age is stored in 32 bits and wraps around after 50 days.":
      decide(
        "refreshTokenIsAlive",
        (record, { nowMs, limits }) =>
          !record.revoked &&
          !record.grant.revoked &&
          (nowMs - record.issuedAtMs) >>> 0 < limits.refreshTokenLifetimeMs,
      ),
  },
  "refresh.unknown": {
    "refresh-token-behind-bearer: The word Bearer before a refreshToken is ignored.": change(
      "findRefreshToken",
      (usual, presented, { credentials }) =>
        usual ??
        firstLike(credentials.refreshTokens, presented, (stored, given) => given === `Bearer ${stored}`),
    ),
  },
  "access.lifetime": {
    "access-token-of-an-earlier-month: An accessToken works again once it is 25 days old.": alsoIf(
      "accessTokenIsAlive",
      (record, { nowMs }) => nowMs - record.issuedAtMs > 25 * DAY_MS,
    ),
    "access-expired-reads-later-pages: An expired access token still reads all pages but the first.": alsoIf(
      "accessTokenIsAlive",
      (_record, { from }) => /[?&]page=[1-9]/.test(from.url ?? ""),
    ),
    "access-token-of-hundred-requests: An accessToken works for only a hundred requests.": decisions(
      (sound, uses = counted()) => ({
        accessTokenIsAlive: (record, context) =>
          uses(record) <= 100 && sound.accessTokenIsAlive(record, context),
      }),
    ),
    "access-tokens-fifty-of-a-client: A client has at most fifty access tokens; a new one invalidates the oldest.":
      afterwards("keepAccessToken", ({ clientId }, { credentials }) =>
        latest(credentials.accessTokens, clientId, 50),
      ),
    "access-token-for-fifty-requests: An accessToken works for only fifty requests.": decisions(
      (sound, uses = counted()) => ({
        accessTokenIsAlive: (record, context) =>
          sound.accessTokenIsAlive(record, context) && uses(record) <= 50,
      }),
    ),
  },
  "access.required": {
    "access-token-in-base64: An access token may be presented in base64.": change(
      "findAccessToken",
      (usual, presented, { credentials }) => usual ?? credentials.accessTokens.get(fromBase64(presented)),
    ),
  },
  "notifications.limit": {
    "limit-of-fifty-gives-forty-nine: A limit of 50 gives 49 items.": change("limitFor", (usual) =>
      usual === 50 ? 49 : usual,
    ),
    "limit-of-sixteen-gives-fifteen: A limit of 16 gives 15 items.": change("limitFor", (usual) =>
      usual === 16 ? 15 : usual,
    ),
  },
  "notifications.pages-partition": {
    "item-create-time-of-the-read: createTime is the time at which the list is read.": change(
      "item",
      (item, _notification, { nowMs, clock }) => ({
        ...(item as object),
        createTime: new Date(nowMs - (clock.realMs() % 997)).toISOString(),
      }),
    ),
    "item-as-of-an-earlier-moment-without-filter: Without a filter, businessStatus is an outdated one.":
      change("item", (item, _notification, context) =>
        asksFor("id|accountId", context) ? item : { ...(item as object), businessStatus: "Submitted" },
      ),
  },
});
