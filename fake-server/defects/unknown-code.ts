import type { AccessRecord, CodeRecord, Context, RefreshRecord } from "../context.ts";
import { change, given, type Replacement, rows } from "../registry.ts";
import {
  asText,
  firstLike,
  fromBase64,
  ignoringAfter,
  ignoringCase,
  ignoringDashes,
  ignoringSuffix,
  isNothing,
  lastOf,
} from "../changes.ts";

const comparing = (matches: (stored: string, presented: string) => boolean): Replacement => ({
  findCode: (presented, { credentials }) => firstLike(credentials.codes, presented, matches),
});

const alsoComparing = (matches: (stored: string, presented: string) => boolean): Replacement =>
  change(
    "findCode",
    (usual, presented, { credentials }) => usual ?? firstLike(credentials.codes, presented, matches),
  );

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

/** Codes that were never issued but are accepted. */
export const unknownCodeDefects = rows({
  "code.unknown": {
    "code-found-whatever-its-case: Codes are compared case-insensitively.": comparing(ignoringCase),
    "code-found-by-prefix: Codes are looked up by their first half.": comparing(ignoringAfter(16)),
    "code-found-but-for-last-character: The last character of a code is ignored.": comparing(
      (stored, presented) => presented !== "" && stored.slice(0, -1) === presented.slice(0, 31),
    ),
    "code-found-with-suffix: Whatever follows a code is ignored.": comparing(ignoringSuffix),
    "code-found-within: A code is accepted if it occurs anywhere in the presented value.": comparing(
      (stored, presented) => presented.includes(stored),
    ),
    "code-trimmed: White space around a code is removed.": mendingText((presented) => presented.trim()),
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
    "code-without-dashes: Dashes in a code are ignored.": comparing(ignoringDashes),
    "code-in-base64: A code may be presented in base64.": alsoComparing(
      (stored, presented) => fromBase64(presented) === stored,
    ),
    "code-in-address: The address of a redirect is accepted in place of its code.": alsoComparing(
      (stored, presented) => presented.endsWith(`code=${stored}`),
    ),
    "code-found-by-pattern: The code % matches the latest unused one.": {
      findCode: (presented, { credentials }) =>
        [...credentials.codes.values()].findLast(
          ({ code, usedAtMs }) => usedAtMs === undefined && (code === presented || presented === "%"),
        ),
    },
  },
});
