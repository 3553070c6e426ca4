import { asText, isNothing, lastOf, stranger } from "../changes.ts";
import type { FakeClient } from "../clients.ts";
import type { AccessRecord, CodeRecord, Context, RefreshRecord } from "../context.ts";
import {
  codes,
  ignoringAfter,
  ignoringCase,
  ignoringDashes,
  ignoringLast,
  ignoringSpace,
  ignoringSuffix,
  inBase64,
  refreshTokens,
} from "../credentials.ts";
import { afterwards, alsoIf, change, given, keeping, type Replacement, rows, together } from "../registry.ts";

/** Looks up codes after `mended` has transformed the presented value. */
const mending = (mended: (presented: unknown) => unknown): Replacement =>
  given("findCode", (presented, context) => [mended(presented), context]);

const mendingText = (mended: (presented: string) => string): Replacement =>
  mending((presented) => (typeof presented === "string" ? mended(presented) : presented));

const invented = (code: string, clientId: string, nowMs: number): CodeRecord => ({
  code,
  clientId,
  state: "",
  issuedAtMs: nowMs,
  usedAtMs: undefined,
  grant: undefined,
});

/** A token that is found is accepted as a code of its client. */
const acceptingAlso = (
  find: (presented: unknown, context: Context) => AccessRecord | RefreshRecord | undefined,
): Replacement =>
  change("findCode", (usual, presented, context) => {
    const found = find(presented, context);
    return found === undefined ? usual : invented(found.token, found.clientId, context.nowMs);
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

/** Codes, refresh tokens and clients of a refresh that were never issued but are accepted. */
export const unknownDefects = rows({
  "code.unknown": {
    "code-found-whatever-its-case: Codes are compared case-insensitively.": codes.areCompared(ignoringCase),
    "code-found-by-prefix: Codes are looked up by their first half.": codes.areCompared(ignoringAfter(16)),
    "code-found-but-for-last-character: The last character of a code is ignored.":
      codes.areCompared(ignoringLast),
    "code-found-with-suffix: Whatever follows a code is ignored.": codes.areCompared(ignoringSuffix),
    "code-found-within: A code is accepted if it occurs anywhere in the presented value.": codes.areCompared(
      (stored, presented) => presented.includes(stored),
    ),
    "code-trimmed: White space around a code is removed.": codes.areCompared(ignoringSpace),
    "code-without-padding: Equals signs at the end of a code are removed as padding.": mendingText(
      (presented) => presented.replace(/=+$/, ""),
    ),
    "code-of-other-type-as-text: A presented code of any type is converted to a string.": mending(asText),
    "code-empty-means-latest: A missing or empty code stands for the latest one.": change(
      "findCode",
      (usual, presented, context) => (isNothing(presented) ? lastOf(context.credentials.codes) : usual),
    ),
    "code-of-right-form-accepted: A code of the right length and alphabet is assumed to come from another node.":
      (sound, latestClient = "") => ({
        keepCode: (record, context) => {
          latestClient = record.clientId;
          sound.keepCode(record, context);
        },
        findCode: (presented, context) =>
          sound.findCode(presented, context) ??
          (typeof presented === "string" && /^[\w-]{32}$/.test(presented)
            ? invented(presented, latestClient, context.nowMs)
            : undefined),
      }),
    "code-may-be-refresh-token: A refreshToken is accepted as a code.": acceptingAlso(
      (presented, { credentials }) => credentials.refreshTokens.get(presented as string),
    ),
    "code-may-be-access-token: An accessToken is accepted as a code.": acceptingAlso(
      (presented, { credentials }) => credentials.accessTokens.get(String(presented)),
    ),
    "code-normalized: Compatibility forms, such as full-width letters, are normalized before the look-up.":
      mendingText((presented) => presented.normalize("NFKC")),
    "code-without-dashes: Dashes in a code are ignored.": codes.areCompared(ignoringDashes),
    "code-in-base64: A code may be presented in base64.": codes.areAlsoCompared(inBase64),
    "code-in-address: The address of a redirect is accepted in place of its code.": codes.areAlsoCompared(
      (stored, presented) => presented.endsWith(`code=${stored}`),
    ),
    "code-found-by-pattern: The code % matches the latest unused one.": {
      findCode: (presented, { credentials }) =>
        [...credentials.codes.values()].findLast(
          ({ code, usedAtMs }) => usedAtMs === undefined && (code === presented || presented === "%"),
        ),
    },
  },
  "refresh.unknown": {
    "refresh-token-whatever-its-case: Refresh tokens are compared case-insensitively.":
      refreshTokens.areCompared(ignoringCase),
    "refresh-token-by-prefix: Refresh tokens are looked up by their first 20 characters.":
      refreshTokens.areCompared(ignoringAfter(20)),
    "refresh-token-with-suffix: Whatever follows a refreshToken is ignored.":
      refreshTokens.areCompared(ignoringSuffix),
    "refresh-token-trimmed: White space around a refreshToken is removed.":
      refreshTokens.areCompared(ignoringSpace),
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
    "refresh-token-behind-bearer: The word Bearer before a refreshToken is ignored.":
      refreshTokens.areAlsoCompared((stored, presented) => presented === `Bearer ${stored}`),
    "refresh-token-of-right-form-accepted: Anything that looks like a refreshToken is assumed to come from another node.":
      together(
        change("findRefreshToken", (known, presented, { credentials, nowMs }) => {
          const latest = lastOf(credentials.accessTokens);
          if (known !== undefined || latest === undefined) return known;
          return /^[\w-]{43}$/.test(String(presented)) ? grantOf(latest, nowMs) : undefined;
        }),
        { refreshTokenBelongsTo: () => true },
      ),
    "refresh-token-without-dashes: Dashes in a refreshToken are ignored.":
      refreshTokens.areCompared(ignoringDashes),
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
