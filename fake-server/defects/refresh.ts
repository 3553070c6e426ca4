import type { Fields } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { AccessRecord, RefreshRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./tools.ts";

/** The answer to a refresh as `changed` leaves it. */
const answering =
  (changed: (fields: Fields, tokens: RefreshRecord) => Fields) =>
  (sound: Behaviour): Pick<Behaviour, "refreshFields"> => ({
    refreshFields: (tokens, timestamp, expiresIn, context) =>
      changed(sound.refreshFields(tokens, timestamp, expiresIn, context), tokens),
  });

/** Refresh tokens that live for `lifetimeMs`. */
const livingFor = (lifetimeMs: number) => (): Pick<Behaviour, "refreshTokenIsAlive"> => ({
  refreshTokenIsAlive: (record, { nowMs }) =>
    !record.revoked && !record.grant.revoked && nowMs - record.issuedAtMs < lifetimeMs,
});

/** Refresh tokens that are refused to a use that `refuses` holds for, beside the sound reasons. */
const refusing =
  (refuses: (record: RefreshRecord, nowMs: number) => boolean) =>
  (sound: Behaviour): Pick<Behaviour, "refreshTokenIsAlive"> => ({
    refreshTokenIsAlive: (record, context) =>
      sound.refreshTokenIsAlive(record, context) && !refuses(record, context.nowMs),
  });

/** How often each refresh token was used. */
const counting = (): { readonly count: (record: RefreshRecord) => number } => {
  const uses = new WeakMap<RefreshRecord, number>();
  return {
    count: (record) => {
      uses.set(record, (uses.get(record) ?? 0) + 1);
      return uses.get(record) ?? 0;
    },
  };
};

/** Works at most `most` times. */
const usableTimes = (most: number) => (): Pick<Behaviour, "takeRefreshToken"> => {
  const { count } = counting();
  return { takeRefreshToken: (record) => count(record) <= most };
};

const accessExpiredForMs = ({ latestAccess }: RefreshRecord, nowMs: number): number =>
  nowMs - latestAccess.issuedAtMs - latestAccess.lifetimeMs;

/** Refreshing (sections 3.2 and 4.3) gone wrong. */
export const refreshDefects = {
  "refresh-without-expires-in": defect(
    "The answer to a refresh lacks expiresIn.",
    ["refresh.token-set"],
    answering(({ accessToken, timestamp }) => ({ accessToken, timestamp })),
  ),
  "refresh-without-timestamp": defect(
    "The answer to a refresh lacks the timestamp.",
    ["refresh.token-set"],
    answering(({ accessToken, expiresIn }) => ({ accessToken, expiresIn })),
  ),
  "refresh-with-empty-access-token": defect(
    "The accessToken of a refresh is empty.",
    ["refresh.token-set", "refresh.access-token-works"],
    answering((fields) => ({ ...fields, accessToken: "" })),
  ),
  "refresh-expires-in-as-text": defect(
    "expiresIn of a refresh is a string.",
    ["refresh.token-set"],
    answering((fields) => ({ ...fields, expiresIn: String(fields["expiresIn"]) })),
  ),
  "refresh-expires-in-negative": defect(
    "expiresIn of a refresh is negative.",
    ["refresh.token-set"],
    answering((fields) => ({ ...fields, expiresIn: -Number(fields["expiresIn"]) })),
  ),

  "refresh-returns-refresh-token": defect(
    "A refresh returns the refreshToken that was used.",
    ["refresh.returns-no-refresh-token"],
    answering((fields, { token }) => ({ ...fields, refreshToken: token })),
  ),
  "refresh-returns-another-refresh-token": defect(
    "A refresh returns a new refreshToken; the old one goes on working.",
    ["refresh.returns-no-refresh-token"],
    (sound) => ({
      refreshFields: (tokens, timestamp, expiresIn, context) => {
        const another = { ...tokens, token: context.random.token(32) };
        sound.keepRefreshToken(another, context);
        const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
        return { ...fields, refreshToken: another.token };
      },
    }),
  ),
  "refresh-returns-refresh-token-later": defect(
    "From the third refresh on the refreshToken is returned.",
    ["refresh.returns-no-refresh-token"],
    (sound) => {
      const { count } = counting();
      return {
        refreshFields: (tokens, timestamp, expiresIn, context) => {
          const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
          return count(tokens) < 3 ? fields : { ...fields, refreshToken: tokens.token };
        },
      };
    },
  ),

  "refreshed-access-token-unknown": defect(
    "The accessToken of a refresh is never stored.",
    ["refresh.access-token-works"],
    (sound) => ({
      keepAccessToken: (record, context) => {
        if (!record.refreshed) sound.keepAccessToken(record, context);
      },
    }),
  ),
  "refreshed-access-token-works-a-second-later": defect(
    "The accessToken of a refresh works only after a second.",
    ["refresh.access-token-works"],
    (sound) => ({
      accessTokenIsAlive: (record, context) =>
        sound.accessTokenIsAlive(record, context) &&
        (!record.refreshed || context.nowMs - record.issuedAtMs >= SECOND_MS),
    }),
  ),
  "refreshed-access-token-works-for-first-refresh": defect(
    "Only the accessToken of the first refresh works.",
    ["refresh.access-token-works"],
    (sound) => {
      const { count } = counting();
      return {
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          if (count(record) > 1) record.latestAccess.revoked = true;
        },
      };
    },
  ),

  "refresh-token-usable-once": defect(
    "A refreshToken dies with its first use.",
    ["refresh.reusable"],
    usableTimes(1),
  ),
  "refresh-token-usable-three-times": defect(
    "A refreshToken dies with its third use.",
    ["refresh.reusable"],
    usableTimes(3),
  ),
  "refresh-token-locked-in-use": defect(
    "While a refresh runs, another one of the same token is refused.",
    ["refresh.reusable"],
    () => {
      const busy = new WeakSet<RefreshRecord>();
      return {
        takeRefreshToken: async (record, { clock }) => {
          if (busy.has(record)) return false;
          busy.add(record);
          await clock.pause(4);
          busy.delete(record);
          return true;
        },
      };
    },
  ),
  "refresh-twice-within-second-refused": defect(
    "A second refresh within the same second is refused.",
    ["refresh.reusable"],
    () => {
      const usedAtMs = new WeakMap<RefreshRecord, number>();
      return {
        takeRefreshToken: (record, { nowMs }) => {
          const sinceMs = nowMs - (usedAtMs.get(record) ?? -Infinity);
          if (sinceMs >= SECOND_MS) usedAtMs.set(record, nowMs);
          return sinceMs >= SECOND_MS;
        },
      };
    },
  ),
  "refresh-before-access-expiry-refused": defect(
    "A refresh is refused as long as the accessToken lives.",
    ["refresh.reusable"],
    refusing((record, nowMs) => accessExpiredForMs(record, nowMs) < 0),
  ),
  "refresh-token-dies-a-second-early": defect(
    "A refreshToken dies a second before its 30 days are over.",
    ["refresh.lifetime"],
    livingFor(30 * DAY_MS - SECOND_MS),
  ),
  "refresh-token-dies-a-day-early": defect(
    "A refreshToken dies after 29 days.",
    ["refresh.lifetime"],
    livingFor(29 * DAY_MS),
  ),
  "refresh-token-dies-after-a-week": defect(
    "A refreshToken dies after seven days.",
    ["refresh.lifetime"],
    livingFor(7 * DAY_MS),
  ),
  "refresh-token-dies-within-the-hour": defect(
    "30 days in seconds are taken for milliseconds.",
    ["refresh.lifetime"],
    livingFor((30 * DAY_MS) / SECOND_MS),
  ),
  "refresh-token-dies-idle": defect(
    "A refreshToken dies when it is not used for ten days.",
    ["refresh.lifetime"],
    refusing(({ latestAccess }, nowMs) => nowMs - latestAccess.issuedAtMs > 10 * DAY_MS),
  ),
  "refresh-token-lives-a-second-longer": defect(
    "A refreshToken lives for 30 days and a second.",
    ["refresh.lifetime"],
    livingFor(30 * DAY_MS + SECOND_MS),
  ),
  "refresh-token-lives-a-day-longer": defect(
    "A refreshToken lives for 31 days.",
    ["refresh.lifetime"],
    livingFor(31 * DAY_MS),
  ),
  "refresh-token-lives-for-ever": defect(
    "A refreshToken never expires.",
    ["refresh.lifetime", "refresh.lifetime-is-from-issue"],
    livingFor(Infinity),
  ),
  "refresh-token-lives-to-midnight": defect(
    "A refreshToken lives until the end of its thirtieth day.",
    ["refresh.lifetime"],
    () => ({
      refreshTokenIsAlive: (record, { nowMs, limits }) =>
        nowMs < Math.ceil((record.issuedAtMs + limits.refreshTokenLifetimeMs + 1) / DAY_MS) * DAY_MS,
    }),
  ),

  "refresh-token-restarted-by-use": defect(
    "Each use starts the 30 days again.",
    ["refresh.lifetime-is-from-issue"],
    () => ({
      afterRefresh: (record, _previous, { nowMs }) => {
        record.issuedAtMs = nowMs;
      },
    }),
  ),
  "refresh-token-lengthened-by-use": defect(
    "Each use adds an hour to the 30 days.",
    ["refresh.lifetime-is-from-issue"],
    () => ({
      afterRefresh: (record) => {
        record.issuedAtMs += HOUR_MS;
      },
    }),
  ),
  "refresh-token-restarted-by-late-use": defect(
    "A use in the second half of the 30 days starts them again.",
    ["refresh.lifetime-is-from-issue"],
    () => ({
      afterRefresh: (record, _previous, { nowMs, limits }) => {
        if (nowMs - record.issuedAtMs > limits.refreshTokenLifetimeMs / 2) record.issuedAtMs = nowMs;
      },
    }),
  ),
  "refresh-token-shortened-by-use": defect(
    "Each use takes a day off the 30 days.",
    ["refresh.lifetime-is-from-issue"],
    () => ({
      afterRefresh: (record) => {
        record.issuedAtMs -= DAY_MS;
      },
    }),
  ),

  "refresh-after-access-expiry-refused": defect(
    "Once the accessToken has expired, the refreshToken is refused.",
    ["refresh.after-access-expiry"],
    refusing((record, nowMs) => accessExpiredForMs(record, nowMs) >= 0),
  ),
  "refresh-a-minute-after-access-expiry-refused": defect(
    "A refresh is possible until a minute after the accessToken's expiry.",
    ["refresh.after-access-expiry"],
    refusing((record, nowMs) => accessExpiredForMs(record, nowMs) >= MINUTE_MS),
  ),
  "refresh-after-access-expiry-yields-dead-token": defect(
    "A refresh that comes after the accessToken's expiry yields one that has expired with it.",
    ["refresh.after-access-expiry"],
    () => ({
      afterRefresh: (record, previous, { nowMs }) => {
        if (nowMs - previous.issuedAtMs >= previous.lifetimeMs) {
          record.latestAccess.issuedAtMs = previous.issuedAtMs;
        }
      },
    }),
  ),

  "reauthorize-refused-after-expiry": defect(
    "A client whose refreshToken was refused as expired gets codes that cannot be exchanged.",
    ["refresh.reauthorize"],
    (sound) => {
      const locked = new Set<string>();
      return {
        afterRefusedRefresh: (record, kind) => {
          if (record !== undefined && kind === "refresh-token-expired") locked.add(record.clientId);
        },
        keepCode: (record, context) => {
          if (!locked.has(record.clientId)) sound.keepCode(record, context);
        },
      };
    },
  ),
  "reauthorize-yields-dead-refresh-token": defect(
    "The 30 days of every refreshToken count from the client's first authorization.",
    ["refresh.reauthorize"],
    (sound) => {
      const firstAtMs = new Map<string, number>();
      return {
        keepRefreshToken: (record, context) => {
          record.issuedAtMs = firstAtMs.get(record.clientId) ?? context.nowMs;
          firstAtMs.set(record.clientId, record.issuedAtMs);
          sound.keepRefreshToken(record, context);
        },
      };
    },
  ),
  "reauthorize-yields-dead-access-token": defect(
    "After a refreshToken has expired, the client's new accessTokens are refused.",
    ["refresh.reauthorize"],
    (sound) => {
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
    },
  ),
} satisfies Record<string, Defect>;
