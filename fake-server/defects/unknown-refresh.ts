import type { FakeClient } from "../clients.ts";
import type { AccessRecord, RefreshRecord } from "../context.ts";
import { afterwards, alsoIf, change, given, keeping, type Replacement, rows, together } from "../registry.ts";
import {
  asText,
  firstLike,
  ignoringAfter,
  ignoringCase,
  ignoringDashes,
  ignoringSpace,
  ignoringSuffix,
  isNothing,
  lastOf,
  stranger,
} from "../changes.ts";

const comparing = (matches: (stored: string, presented: string) => boolean): Replacement => ({
  findRefreshToken: (presented, { credentials }) => firstLike(credentials.refreshTokens, presented, matches),
});

/** Clients that a refresh accepts for a clientId; if none is found, the token's owner decides. */
const identifying = (found: (client: FakeClient, presented: unknown) => boolean): Replacement => ({
  findClientToRefresh: (clientId, clients) =>
    (typeof clientId === "string" ? clients.get(clientId) : undefined) ??
    [...clients.values()].find((client) => found(client, clientId)),
  refreshTokenBelongsTo: () => true,
});

const noClient: FakeClient = { id: "", secret: "", redirectUri: "" };

const grantOf = (access: AccessRecord, nowMs: number): RefreshRecord => ({
  token: access.token,
  clientId: access.clientId,
  grant: access.grant,
  issuedAtMs: nowMs,
  revoked: false,
  latestAccess: access,
});

/** Refresh tokens and clients that do not exist but are accepted. */
export const unknownRefreshDefects = rows({
  "refresh.unknown": {
    "refresh-token-whatever-its-case: Refresh tokens are compared case-insensitively.":
      comparing(ignoringCase),
    "refresh-token-by-prefix: Refresh tokens are looked up by their first 20 characters.": comparing(
      ignoringAfter(20),
    ),
    "refresh-token-with-suffix: Whatever follows a refreshToken is ignored.": comparing(ignoringSuffix),
    "refresh-token-trimmed: White space around a refreshToken is removed.": comparing(ignoringSpace),
    "refresh-token-in-array-accepted: An array that contains the refreshToken is accepted.": given(
      "findRefreshToken",
      (presented, context) => [asText(presented), context],
    ),
    "refresh-token-empty-means-latest: A missing or empty refreshToken stands for the latest one.": change(
      "findRefreshToken",
      (usual, presented, context) =>
        isNothing(presented) ? lastOf(context.credentials.refreshTokens) : usual,
    ),
    "refresh-token-may-be-access-token: A refresh accepts an accessToken as well.": change(
      "findRefreshToken",
      (usual, presented, context) => {
        const access = context.credentials.accessTokens.get(String(presented));
        return access === undefined ? usual : grantOf(access, context.nowMs);
      },
    ),
    "refresh-token-may-be-code: A refresh accepts a code as well.": change(
      "findRefreshToken",
      (usual, presented, context) => {
        const code = context.credentials.codes.get(presented as string);
        return code === undefined
          ? usual
          : grantOf({ ...stranger(context, code.clientId), token: code.code }, context.nowMs);
      },
    ),
    "refresh-token-behind-bearer: The word Bearer before a refreshToken is ignored.": change(
      "findRefreshToken",
      (usual, presented, { credentials }) =>
        usual ??
        firstLike(credentials.refreshTokens, presented, (stored, given) => given === `Bearer ${stored}`),
    ),
    "refresh-token-of-right-form-accepted: Anything that looks like a refreshToken is assumed to come from another node.":
      together(
        change("findRefreshToken", (known, presented, { credentials, nowMs }) => {
          const latest = lastOf(credentials.accessTokens);
          if (known !== undefined || latest === undefined) return known;
          return /^[\w-]{43}$/.test(String(presented)) ? grantOf(latest, nowMs) : undefined;
        }),
        { refreshTokenBelongsTo: () => true },
      ),
    "refresh-token-without-dashes: Dashes in a refreshToken are ignored.": comparing(ignoringDashes),
    "refresh-token-unknown-revokes-others: Presenting a refreshToken that was never issued revokes all others.":
      {
        afterRefusedRefresh: (_record, kind, { credentials }) => {
          if (kind === "refresh-token-unknown")
            for (const token of credentials.refreshTokens.values()) token.revoked = true;
        },
      },
  },
  "refresh.unknown-client": {
    "refresh-client-ignored: The clientId of a refresh is not checked.": identifying(() => true),
    "refresh-client-may-be-absent: A refresh without a clientId is accepted.": identifying(
      (_client, presented) => presented === undefined,
    ),
    "refresh-client-may-be-empty: A refresh with an empty clientId is accepted.": identifying(
      (_client, presented) => presented === "",
    ),
    "refresh-client-whatever-its-case: The clientId of a refresh is compared case-insensitively.":
      identifying(({ id }, presented) => ignoringCase(id, String(presented))),
    "refresh-client-trimmed: White space around the clientId of a refresh is removed.": identifying(
      ({ id }, presented) => typeof presented === "string" && presented.trim() === id,
    ),
    "refresh-client-by-prefix: The client of a refresh is looked up by a prefix of its id.": {
      findClientToRefresh: (clientId, clients) =>
        [...clients.values()].find(
          ({ id }) => typeof clientId === "string" && clientId !== "" && id.startsWith(clientId),
        ),
    },
    "refresh-client-checked-once: The client is checked only at the first use of a refreshToken.": keeping(
      (used = new WeakSet<RefreshRecord>()) =>
        together(
          change("findClientToRefresh", (client) => client ?? noClient),
          alsoIf("refreshTokenBelongsTo", (record) => used.has(record)),
          afterwards("afterRefresh", (record) => void used.add(record)),
        ),
    ),
    "refresh-client-checked-five-times: From the sixth use of a refreshToken on, the client is not checked.":
      keeping((uses = new WeakMap<RefreshRecord, number>()) =>
        together(
          change("findClientToRefresh", (client) => client ?? noClient),
          alsoIf("refreshTokenBelongsTo", (record) => (uses.get(record) ?? 0) >= 5),
          afterwards("afterRefresh", (record) => void uses.set(record, (uses.get(record) ?? 0) + 1)),
        ),
      ),
    "refresh-client-in-array-accepted: An array that contains the clientId of a refresh is accepted.": {
      findClientToRefresh: (clientId, clients) => clients.get(asText(clientId)),
    },
  },
});
