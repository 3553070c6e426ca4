import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Fields } from "../answer.ts";
import type { AccessRecord, RefreshRecord } from "../context.ts";
import {
  afterwards,
  change,
  decide,
  decisions,
  livesFor,
  onlyIf,
  type Replacement,
  rows,
} from "../registry.ts";
import { counted } from "./tools.ts";

const lives = (lifetimeMs: number): Replacement => livesFor("refreshTokenIsAlive", lifetimeMs);

const answering = (changed: (fields: Fields, tokens: RefreshRecord) => Fields): Replacement =>
  change("refreshFields", changed);

/** Refused if `refuses` holds, in addition to the sound reasons. */
const refusing = (refuses: (record: RefreshRecord, nowMs: number) => boolean): Replacement =>
  onlyIf("refreshTokenIsAlive", (record, { nowMs }) => !refuses(record, nowMs));

const usableTimes = (most: number): Replacement =>
  decisions((_sound, uses = counted()) => ({ takeRefreshToken: (record) => uses(record) <= most }));

const accessExpiredForMs = ({ latestAccess }: RefreshRecord, nowMs: number): number =>
  nowMs - latestAccess.issuedAtMs - latestAccess.lifetimeMs;

/** Defects in refreshing (sections 3.2 and 4.3). */
export const refreshDefects = rows({
  "refresh.token-set": {
    "refresh-without-expires-in: The answer to a refresh has no expiresIn.": answering(
      ({ accessToken, timestamp }) => ({ accessToken, timestamp }),
    ),
    "refresh-without-timestamp: The answer to a refresh has no timestamp.": answering(
      ({ accessToken, expiresIn }) => ({ accessToken, expiresIn }),
    ),
    "refresh-with-empty-access-token: The accessToken of a refresh is empty.": [
      answering((fields) => ({ ...fields, accessToken: "" })),
      "refresh.access-token-works",
    ],
    "refresh-expires-in-as-text: expiresIn of a refresh is a string.": answering((fields) => ({
      ...fields,
      expiresIn: String(fields["expiresIn"]),
    })),
    "refresh-expires-in-negative: expiresIn of a refresh is negative.": answering((fields) => ({
      ...fields,
      expiresIn: -Number(fields["expiresIn"]),
    })),
    "refresh-expires-in-null: expiresIn of a refresh is null.": answering((fields) => ({
      ...fields,
      expiresIn: null,
    })),
    "refresh-with-name-of-the-rfc: A refresh returns the accessToken as access_token.": answering(
      ({ accessToken, ...fields }) => ({ ...fields, access_token: accessToken }),
    ),
    "refresh-without-timestamp-from-second: From the second refresh on there is no timestamp.": decisions(
      (sound, uses = counted()) => ({
        refreshFields: (record, timestamp, expiresIn, context) => {
          const { timestamp: told, ...fields } = sound.refreshFields(record, timestamp, expiresIn, context);
          return uses(record) > 1 ? fields : { ...fields, timestamp: told };
        },
      }),
    ),
  },
  "refresh.returns-no-refresh-token": {
    "refresh-returns-refresh-token: A refresh returns the refreshToken that was used.": answering(
      (fields, { token }) => ({ ...fields, refreshToken: token }),
    ),
    "refresh-returns-another-refresh-token: A refresh returns a new refreshToken; the old one stays valid.":
      decisions((sound) => ({
        refreshFields: (tokens, timestamp, expiresIn, context) => {
          const another = { ...tokens, token: context.random.token(32) };
          sound.keepRefreshToken(another, context);
          const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
          return { ...fields, refreshToken: another.token };
        },
      })),
    "refresh-returns-refresh-token-later: From the third refresh on, the refreshToken is returned.":
      decisions((sound, count = counted()) => ({
        refreshFields: (tokens, timestamp, expiresIn, context) => {
          const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
          return count(tokens) < 3 ? fields : { ...fields, refreshToken: tokens.token };
        },
      })),
    "refresh-returns-refresh-token-in-session: A refresh returns the refreshToken within an object.":
      answering((fields, { token }) => ({ ...fields, session: { next: token } })),
  },
  "refresh.access-token-works": {
    "refreshed-access-token-unknown: The accessToken of a refresh is never stored.": decisions((sound) => ({
      keepAccessToken: (record, context) => {
        if (!record.refreshed) sound.keepAccessToken(record, context);
      },
    })),
    "refreshed-access-token-works-a-second-later: The accessToken of a refresh works only from one second after its issue.":
      onlyIf(
        "accessTokenIsAlive",
        (record, context) => !record.refreshed || context.nowMs - record.issuedAtMs >= SECOND_MS,
      ),
    "refreshed-access-token-works-for-first-refresh: Only the accessToken of the first refresh works.":
      decisions((sound, count = counted()) => ({
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          if (count(record) > 1) record.latestAccess.revoked = true;
        },
      })),
  },
  "refresh.reusable": {
    "refresh-token-usable-once: A refreshToken stops working after its first use.": usableTimes(1),
    "refresh-token-usable-three-times: A refreshToken stops working after its third use.": usableTimes(3),
    "refresh-token-locked-in-use: While a refresh runs, another with the same token is refused.": decisions(
      (_sound, busy = new WeakSet<RefreshRecord>()) => ({
        takeRefreshToken: async (record, { clock }) => {
          if (busy.has(record)) return false;
          busy.add(record);
          await clock.pause(4);
          busy.delete(record);
          return true;
        },
      }),
    ),
    "refresh-twice-within-second-refused: A second refresh within the same second is refused.": decisions(
      (_sound, usedAtMs = new WeakMap<RefreshRecord, number>()) => ({
        takeRefreshToken: (record, { nowMs }) => {
          const sinceMs = nowMs - (usedAtMs.get(record) ?? -Infinity);
          if (sinceMs >= SECOND_MS) usedAtMs.set(record, nowMs);
          return sinceMs >= SECOND_MS;
        },
      }),
    ),
    "refresh-before-access-expiry-refused: A refresh is refused while the accessToken is valid.": refusing(
      (record, nowMs) => accessExpiredForMs(record, nowMs) < 0,
    ),
    "refresh-token-usable-ten-times: A refreshToken stops working after its tenth use.": usableTimes(10),
    "refresh-within-a-minute-refused: A refresh within a minute of the last is refused, unless concurrent.":
      decisions((_sound, last = new WeakMap<RefreshRecord, number>()) => ({
        takeRefreshToken: (record, { nowMs }) => {
          const sinceMs = nowMs - (last.get(record) ?? nowMs);
          last.set(record, nowMs);
          return sinceMs === 0 || sinceMs > MINUTE_MS;
        },
      })),
  },
  "refresh.lifetime": {
    "refresh-token-dies-a-second-early: A refreshToken expires a second before its 30 days are over.": lives(
      30 * DAY_MS - SECOND_MS,
    ),
    "refresh-token-dies-a-day-early: A refreshToken expires after 29 days.": lives(29 * DAY_MS),
    "refresh-token-dies-after-a-week: A refreshToken expires after seven days.": lives(7 * DAY_MS),
    "refresh-token-dies-within-the-hour: The 30 days, in seconds, are interpreted as milliseconds.": lives(
      (30 * DAY_MS) / SECOND_MS,
    ),
    "refresh-token-dies-idle: A refreshToken expires if it is not used for ten days.": refusing(
      ({ latestAccess }, nowMs) => nowMs - latestAccess.issuedAtMs > 10 * DAY_MS,
    ),
    "refresh-token-lives-a-second-longer: A refreshToken works for 30 days and a second.": lives(
      30 * DAY_MS + SECOND_MS,
    ),
    "refresh-token-lives-a-day-longer: A refreshToken works for 31 days.": lives(31 * DAY_MS),
    "refresh-token-lives-for-ever: A refreshToken never expires.": [
      lives(Infinity),
      "refresh.lifetime-is-from-issue",
    ],
    "refresh-token-lives-to-midnight: A refreshToken works to the end of its thirtieth day.": decide(
      "refreshTokenIsAlive",
      (record, { nowMs, limits }) =>
        nowMs < Math.ceil((record.issuedAtMs + limits.refreshTokenLifetimeMs + 1) / DAY_MS) * DAY_MS,
    ),
    "refresh-token-counted-from-authorization: The 30 days count from the authorization.": afterwards(
      "afterExchange",
      (code, tokens) => {
        tokens.issuedAtMs = code.issuedAtMs;
      },
    ),
  },
  "refresh.lifetime-is-from-issue": {
    "refresh-token-restarted-by-use: Each use restarts the 30 days.": decide(
      "afterRefresh",
      (record, _previous, { nowMs }) => {
        record.issuedAtMs = nowMs;
      },
    ),
    "refresh-token-lengthened-by-use: Each use adds an hour to the 30 days.": decide(
      "afterRefresh",
      (record) => {
        record.issuedAtMs += HOUR_MS;
      },
    ),
    "refresh-token-restarted-by-late-use: A use in the second half of the 30 days restarts them.": decide(
      "afterRefresh",
      (record, _previous, { nowMs, limits }) => {
        if (nowMs - record.issuedAtMs > limits.refreshTokenLifetimeMs / 2) record.issuedAtMs = nowMs;
      },
    ),
    "refresh-token-shortened-by-use: Each use takes a day off the 30 days.": decide(
      "afterRefresh",
      (record) => {
        record.issuedAtMs -= DAY_MS;
      },
    ),
    "refresh-token-renewed-in-its-last-hour: A refreshToken used in its last hour is renewed.": decide(
      "afterRefresh",
      (record, _previous, { nowMs, limits }) => {
        if (nowMs - record.issuedAtMs > limits.refreshTokenLifetimeMs - HOUR_MS) record.issuedAtMs = nowMs;
      },
    ),
    "refresh-tokens-renewed-by-exchange: An exchange renews every refreshToken of its client.": decide(
      "afterExchange",
      (_code, { clientId }, { credentials, nowMs }) => {
        for (const token of credentials.refreshTokens.values())
          if (token.clientId === clientId) token.issuedAtMs = nowMs;
      },
    ),
  },
  "refresh.after-access-expiry": {
    "refresh-after-access-expiry-refused: Once the accessToken has expired, the refreshToken is refused.":
      refusing((record, nowMs) => accessExpiredForMs(record, nowMs) >= 0),
    "refresh-a-minute-after-access-expiry-refused: A refresh is refused from one minute after the accessToken's expiry.":
      refusing((record, nowMs) => accessExpiredForMs(record, nowMs) >= MINUTE_MS),
    "refresh-after-access-expiry-yields-dead-token: A refresh after the accessToken's expiry returns an accessToken that has already expired.":
      decide("afterRefresh", (record, previous, { nowMs }) => {
        if (nowMs - previous.issuedAtMs >= previous.lifetimeMs) {
          record.latestAccess.issuedAtMs = previous.issuedAtMs;
        }
      }),
    "refresh-a-day-after-access-expiry-refused: A refresh is refused from one day after the accessToken's expiry.":
      decide("refreshTokenIsAlive", (record, { nowMs }) => accessExpiredForMs(record, nowMs) < DAY_MS),
  },
  "refresh.reauthorize": {
    "reauthorize-refused-after-expiry: Once a refreshToken has expired, the client's new codes cannot be exchanged.":
      decisions((sound, locked = new Set<string>()) => ({
        afterRefusedRefresh: (record, kind) => {
          if (record !== undefined && kind === "refresh-token-expired") locked.add(record.clientId);
        },
        keepCode: (record, context) => {
          if (!locked.has(record.clientId)) sound.keepCode(record, context);
        },
      })),
    "reauthorize-yields-dead-refresh-token: The 30 days count from the client's first authorization.":
      decisions((sound, firstAtMs = new Map<string, number>()) => ({
        keepRefreshToken: (record, context) => {
          record.issuedAtMs = firstAtMs.get(record.clientId) ?? context.nowMs;
          firstAtMs.set(record.clientId, record.issuedAtMs);
          sound.keepRefreshToken(record, context);
        },
      })),
    "reauthorize-yields-dead-access-token: Once a refreshToken has expired, the client's new accessTokens are refused.":
      decisions((sound) => {
        const firstAtMs = new Map<string, number>();
        const tooLate = (record: AccessRecord, thirtyDaysMs: number): boolean => {
          const first = firstAtMs.get(record.clientId) ?? record.issuedAtMs;
          firstAtMs.set(record.clientId, first);
          return record.issuedAtMs - first >= thirtyDaysMs;
        };
        return {
          keepAccessToken: (record, context) => {
            record.revoked = tooLate(record, context.limits.refreshTokenLifetimeMs);
            sound.keepAccessToken(record, context);
          },
        };
      }),
    "reauthorize-revives-old-refresh-token: A new authorization renews an expired refreshToken.": afterwards(
      "keepCode",
      (_code, { credentials, nowMs }) => {
        for (const old of credentials.refreshTokens.values())
          if (nowMs - old.issuedAtMs > 30 * DAY_MS) old.issuedAtMs = nowMs;
      },
    ),
  },
});
