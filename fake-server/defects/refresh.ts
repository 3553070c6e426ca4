import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Fields } from "../answer.ts";
import { counted, remembered } from "../changes.ts";
import type { RefreshRecord } from "../context.ts";
import { refreshTokens } from "../credentials.ts";
import { afterwards, change, given, keeping, onlyIf, type Replacement, rows } from "../registry.ts";

/** Answers with other fields; one that is undefined is missing. */
const answering = (changed: (fields: Fields, tokens: RefreshRecord, nowMs: number) => Fields): Replacement =>
  change("refreshFields", (fields, tokens, _timestamp, _expiresIn, { nowMs }) => ({
    ...fields,
    ...changed(fields, tokens, nowMs),
  }));

/** The same, from the n-th use of a refresh token. */
const answeringFrom = (use: number, changed: (tokens: RefreshRecord) => Fields): Replacement =>
  keeping((uses = counted()) => answering((_fields, tokens) => (uses(tokens) >= use ? changed(tokens) : {})));

const giving = ({ token }: RefreshRecord): Fields => ({ refreshToken: token });

/** Refused if `refuses` holds, in addition to the sound reasons. */
const refusing = (refuses: (record: RefreshRecord, nowMs: number) => boolean): Replacement =>
  onlyIf("refreshTokenIsAlive", (record, { nowMs }) => !refuses(record, nowMs));

const usableTimes = (most: number): Replacement =>
  keeping((uses = counted()) => ({ takeRefreshToken: (record) => uses(record) <= most }));

const accessExpiredForMs = ({ latestAccess }: RefreshRecord, nowMs: number): number =>
  nowMs - latestAccess.issuedAtMs - latestAccess.lifetimeMs;

/** Defects in refreshing (sections 3.2 and 4.3). */
export const refreshDefects = rows({
  "refresh.token-set": {
    "refresh-without-expires-in: The answer to a refresh has no expiresIn.": answering(() => ({
      expiresIn: undefined,
    })),
    "refresh-without-timestamp: The answer to a refresh has no timestamp.": answering(() => ({
      timestamp: undefined,
    })),
    "refresh-expires-in-as-text: expiresIn of a refresh is a string.": answering(({ expiresIn }) => ({
      expiresIn: String(expiresIn),
    })),
    "refresh-expires-in-negative: expiresIn of a refresh is negative.": answering(({ expiresIn }) => ({
      expiresIn: -Number(expiresIn),
    })),
    "refresh-expires-in-null: expiresIn of a refresh is null.": answering(() => ({ expiresIn: null })),
    "refresh-with-name-of-the-rfc: A refresh returns the accessToken as access_token.": answering(
      ({ accessToken }) => ({ accessToken: undefined, access_token: accessToken }),
    ),
    "refresh-without-timestamp-from-second: From the second refresh on there is no timestamp.": answeringFrom(
      2,
      () => ({ timestamp: undefined }),
    ),
    "refresh-without-expires-in-late-in-life: After a week the answer to a refresh has no expiresIn.":
      answering((_fields, { issuedAtMs }, nowMs) =>
        nowMs - issuedAtMs > 7 * DAY_MS ? { expiresIn: undefined } : {},
      ),
    "refresh-timestamp-of-its-grant: The timestamp of a refresh is the time at which its refreshToken was issued.":
      given("refreshFields", (tokens, _timestamp, ...more) => [tokens, tokens.issuedAtMs, ...more]),
  },
  "refresh.token-set refresh.access-token-works": {
    "refresh-with-empty-access-token: The accessToken of a refresh is empty.": answering(() => ({
      accessToken: "",
    })),
  },
  "refresh.returns-no-refresh-token": {
    "refresh-returns-refresh-token: A refresh returns the refreshToken that was used.": answering(
      (_fields, tokens) => giving(tokens),
    ),
    "refresh-returns-another-refresh-token: A refresh returns a new refreshToken; the old one stays valid.": (
      sound,
    ) => ({
      refreshFields: (tokens, timestamp, expiresIn, context) => {
        const another = { ...tokens, token: context.random.token(32) };
        sound.keepRefreshToken(another, context);
        const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
        return { ...fields, refreshToken: another.token };
      },
    }),
    "refresh-returns-refresh-token-later: From the third refresh on, the refreshToken is returned.":
      answeringFrom(3, giving),
    "refresh-returns-refresh-token-from-sixteenth: The sixteenth and later refreshes return the refreshToken.":
      answeringFrom(16, giving),
    "refresh-returns-refresh-token-late-in-life: After 20 days a refresh returns the refreshToken.":
      answering((_fields, tokens, nowMs) => (nowMs - tokens.issuedAtMs > 20 * DAY_MS ? giving(tokens) : {})),
    "refresh-returns-refresh-token-in-session: A refresh returns the refreshToken within an object.":
      answering((_fields, { token }) => ({ session: { next: token } })),
    "refresh-returns-another-in-name-of-the-rfc: A refresh returns a refresh_token that must be activated.":
      answering((_fields, { token }) => ({ refresh_token: token.split("").toReversed().join("") })),
    "refresh-returns-refresh-token-within-another: A refresh returns the refreshToken in an identity token.":
      answering((_fields, { token }) => ({ idToken: `head.${token}.signature` })),
  },
  "refresh.access-token-works": {
    "refreshed-access-token-unknown: The accessToken of a refresh is never stored.": (sound) => ({
      keepAccessToken: (record, context) => {
        if (!record.refreshed) sound.keepAccessToken(record, context);
      },
    }),
    "refreshed-access-token-works-a-second-later: The accessToken of a refresh works only from one second after its issue.":
      onlyIf(
        "accessTokenIsAlive",
        (record, context) => !record.refreshed || context.nowMs - record.issuedAtMs >= SECOND_MS,
      ),
    "refreshed-access-token-works-for-first-refresh: Only the accessToken of the first refresh works.":
      keeping((uses = counted()) =>
        afterwards("afterRefresh", (record) => {
          if (uses(record) > 1) record.latestAccess.revoked = true;
        }),
      ),
  },
  "refresh.reusable": {
    "refresh-token-usable-once: A refreshToken stops working after its first use.": usableTimes(1),
    "refresh-token-usable-three-times: A refreshToken stops working after its third use.": usableTimes(3),
    "refresh-token-locked-in-use: While a refresh runs, another with the same token is refused.": (
      _sound,
      busy = new WeakSet<RefreshRecord>(),
    ) => ({
      takeRefreshToken: async (record, { clock }) => {
        if (busy.has(record)) return false;
        busy.add(record);
        await clock.pause(4);
        busy.delete(record);
        return true;
      },
    }),
    "refresh-twice-within-second-refused: A second refresh within the same second is refused.": (
      _sound,
      usedAtMs = new WeakMap<RefreshRecord, number>(),
    ) => ({
      takeRefreshToken: (record, { nowMs }) => {
        const sinceMs = nowMs - (usedAtMs.get(record) ?? -Infinity);
        if (sinceMs >= SECOND_MS) usedAtMs.set(record, nowMs);
        return sinceMs >= SECOND_MS;
      },
    }),
    "refresh-before-access-expiry-refused: A refresh is refused while the accessToken is valid.": refusing(
      (record, nowMs) => accessExpiredForMs(record, nowMs) < 0,
    ),
    "refresh-token-usable-ten-times: A refreshToken stops working after its tenth use.": usableTimes(10),
    "refresh-token-usable-twenty-times: A refreshToken stops working after its twentieth use.":
      usableTimes(20),
    "refresh-four-at-a-time: While four refreshes of a token run, a fifth one is refused.": (
      _sound,
      running = new WeakMap<RefreshRecord, number>(),
    ) => {
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
    },
    "refresh-tokens-fifty-of-a-client: A client has at most fifty refreshTokens; a new one invalidates the oldest.":
      refreshTokens.areAtMost(50),
    "refresh-within-a-minute-refused: A refresh within a minute of the last is refused, unless concurrent.": (
      _sound,
      last = new WeakMap<RefreshRecord, number>(),
    ) => ({
      takeRefreshToken: (record, { nowMs }) => {
        const sinceMs = nowMs - (last.get(record) ?? nowMs);
        last.set(record, nowMs);
        return sinceMs === 0 || sinceMs > MINUTE_MS;
      },
    }),
  },
  "refresh.after-access-expiry": {
    "refresh-after-access-expiry-refused: Once the accessToken has expired, the refreshToken is refused.":
      refusing((record, nowMs) => accessExpiredForMs(record, nowMs) >= 0),
    "refresh-a-minute-after-access-expiry-refused: A refresh is refused from one minute after the accessToken's expiry.":
      refusing((record, nowMs) => accessExpiredForMs(record, nowMs) >= MINUTE_MS),
    "refresh-after-access-expiry-yields-dead-token: A refresh after the accessToken's expiry returns an accessToken that has already expired.":
      {
        afterRefresh: (record, previous, { nowMs }) => {
          if (nowMs - previous.issuedAtMs >= previous.lifetimeMs) {
            record.latestAccess.issuedAtMs = previous.issuedAtMs;
          }
        },
      },
    "refresh-a-day-after-access-expiry-refused: A refresh is refused from one day after the accessToken's expiry.":
      { refreshTokenIsAlive: (record, { nowMs }) => accessExpiredForMs(record, nowMs) < DAY_MS },
  },
  "refresh.reauthorize": {
    "reauthorize-refused-after-expiry: Once a refreshToken has expired, the client's new codes cannot be exchanged.":
      (sound, locked = new Set<string>()) => ({
        afterRefusedRefresh: (record, kind) => {
          if (record !== undefined && kind === "refresh-token-expired") locked.add(record.clientId);
        },
        keepCode: (record, context) => {
          if (!locked.has(record.clientId)) sound.keepCode(record, context);
        },
      }),
    "reauthorize-yields-dead-refresh-token: The 30 days count from the client's first authorization.":
      keeping((firstAtMs = new Map<string, number>()) =>
        afterwards("keepRefreshToken", (record, { nowMs }) => {
          record.issuedAtMs = remembered(firstAtMs, record.clientId, () => nowMs);
        }),
      ),
    "reauthorize-yields-dead-access-token: Once a refreshToken has expired, the client's new accessTokens are refused.":
      keeping((firstAtMs = new Map<string, number>()) =>
        afterwards("keepAccessToken", (record, { limits }) => {
          const first = remembered(firstAtMs, record.clientId, () => record.issuedAtMs);
          record.revoked = record.issuedAtMs - first >= limits.refreshTokenLifetimeMs;
        }),
      ),
    "reauthorize-revives-old-refresh-token: A new authorization renews an expired refreshToken.": afterwards(
      "keepCode",
      (_code, { credentials, nowMs }) => {
        for (const old of credentials.refreshTokens.values())
          if (nowMs - old.issuedAtMs > 30 * DAY_MS) old.issuedAtMs = nowMs;
      },
    ),
  },
});
