import type { CodeRecord } from "../context.ts";
import { change, decide, decisions, type Replacement, rows } from "../registry.ts";
import { careless, asText, firstLike, isNothing, lastOf } from "./tools.ts";

const comparing = (matches: (stored: string, presented: string) => boolean): Replacement =>
  decide("findCode", (presented, { credentials }) => firstLike(credentials.codes, presented, matches));

/** Looks up codes after `mended` has transformed the presented value. */
const mending = (mended: (presented: unknown) => unknown): Replacement =>
  decisions((sound) => ({ findCode: (presented, context) => sound.findCode(mended(presented), context) }));

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

/** Codes that were never issued but are accepted. */
export const unknownCodeDefects = rows({
  "code.unknown": {
    "code-found-whatever-its-case: Codes are compared case-insensitively.": comparing(careless.ofCase),
    "code-found-by-prefix: Codes are looked up by their first half.": comparing(careless.beyond(16)),
    "code-found-but-for-last-character: The last character of a code is ignored.": comparing(
      (stored, presented) => presented !== "" && stored.slice(0, -1) === presented.slice(0, 31),
    ),
    "code-found-with-suffix: Whatever follows a code is ignored.": comparing(careless.ofSuffix),
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
      decisions((sound, latestClient = "") => ({
        keepCode: (record, context) => {
          latestClient = record.clientId;
          sound.keepCode(record, context);
        },
        findCode: (presented, context) =>
          sound.findCode(presented, context) ??
          (typeof presented === "string" && /^[\w-]{32}$/.test(presented)
            ? invented(presented, latestClient, context.nowMs)
            : undefined),
      })),
    "code-may-be-refresh-token: A refreshToken is accepted as a code.": decisions((sound) => ({
      findCode: (presented, context) => {
        const token = sound.findRefreshToken(presented, context);
        return token === undefined
          ? sound.findCode(presented, context)
          : invented(token.token, token.clientId, context.nowMs);
      },
    })),
    "code-may-be-access-token: An accessToken is accepted as a code.": change(
      "findCode",
      (usual, presented, context) => {
        const token = context.credentials.accessTokens.get(String(presented));
        return token === undefined ? usual : invented(token.token, token.clientId, context.nowMs);
      },
    ),
    "code-normalized: Compatibility forms, such as full-width letters, are normalized before the look-up.":
      mendingText((presented) => presented.normalize("NFKC")),
    "code-without-dashes: Dashes in a code are ignored.": comparing(careless.ofDashes),
    "code-found-by-pattern: The code % matches the latest unused one.": decide(
      "findCode",
      (presented, { credentials }) =>
        [...credentials.codes.values()].findLast(
          ({ code, usedAtMs }) => usedAtMs === undefined && (code === presented || presented === "%"),
        ),
    ),
  },
});
