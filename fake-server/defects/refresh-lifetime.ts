import { DAY_MS, HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { ServiceLimits } from "../limits.ts";
import { afterwards, keeping, livesFor, livesWhile, onlyIf, type Replacement, rows } from "../registry.ts";
import { counted, inOneStore } from "../changes.ts";

const lives = (lifetimeMs: number): Replacement => livesFor("refreshTokenIsAlive", lifetimeMs);

/** A use that restarts the 30 days if the condition holds. */
const restartedIf = (holds: (ageMs: number, limits: ServiceLimits) => boolean): Replacement => ({
  afterRefresh: (record, _previous, { nowMs, limits }) => {
    if (holds(nowMs - record.issuedAtMs, limits)) record.issuedAtMs = nowMs;
  },
});

/** A use that moves the start of the 30 days. */
const movedBy = (byMs: number): Replacement => ({
  afterRefresh: (record) => {
    record.issuedAtMs += byMs;
  },
});

/** The same day of the next month, or its last day if there is no such day. */
const monthLater = (fromMs: number): number => {
  const from = new Date(fromMs);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth()];
  const lastDay = new Date(Date.UTC(year, month + 2, 0)).getUTCDate();
  return Date.UTC(year, month + 1, Math.min(from.getUTCDate(), lastDay)) + (fromMs % DAY_MS);
};

/** Defects in the 30 days of a refresh token (sections 2.2, 3.2 and 8). */
export const refreshLifetimeDefects = rows({
  "refresh.lifetime": {
    "refresh-token-dies-a-second-early: A refreshToken expires a second before its 30 days are over.": lives(
      30 * DAY_MS - SECOND_MS,
    ),
    "refresh-token-dies-a-day-early: A refreshToken expires after 29 days.": lives(29 * DAY_MS),
    "refresh-token-dies-after-a-week: A refreshToken expires after seven days.": lives(7 * DAY_MS),
    "refresh-token-dies-within-the-hour: The 30 days, in seconds, are interpreted as milliseconds.": lives(
      (30 * DAY_MS) / SECOND_MS,
    ),
    "refresh-token-dies-idle: A refreshToken expires if it is not used for ten days.": onlyIf(
      "refreshTokenIsAlive",
      ({ latestAccess }, { nowMs }) => nowMs - latestAccess.issuedAtMs <= 10 * DAY_MS,
    ),
    "refresh-token-lives-a-second-longer: A refreshToken works for 30 days and a second.": lives(
      30 * DAY_MS + SECOND_MS,
    ),
    "refresh-token-lives-a-day-longer: A refreshToken works for 31 days.": lives(31 * DAY_MS),
    "refresh-token-lives-for-ever: A refreshToken never expires.": [
      lives(Infinity),
      "refresh.lifetime-is-from-issue",
    ],
    "refresh-token-lives-to-midnight: A refreshToken works to the end of its thirtieth day.": {
      refreshTokenIsAlive: (record, { nowMs, limits }) =>
        nowMs < Math.ceil((record.issuedAtMs + limits.refreshTokenLifetimeMs + 1) / DAY_MS) * DAY_MS,
    },
    "refresh-token-lives-a-calendar-month: A refreshToken works until the same day of the next month.":
      livesWhile("refreshTokenIsAlive", ({ issuedAtMs }, { nowMs }) => nowMs < monthLater(issuedAtMs)),
    "refresh-token-age-in-32-bits: A refreshToken's age is stored in 32 bits and wraps around after 50 days.":
      livesWhile(
        "refreshTokenIsAlive",
        ({ issuedAtMs }, { nowMs, limits }) => (nowMs - issuedAtMs) >>> 0 < limits.refreshTokenLifetimeMs,
      ),
    "refresh-token-of-one-store-dies-early: Every eighth refreshToken works for 29 days.": inOneStore(
      "keepRefreshToken",
      "refreshTokenIsAlive",
      -DAY_MS,
    ),
    "refresh-token-of-one-store-lives-longer: Every eighth refreshToken works for 31 days.": inOneStore(
      "keepRefreshToken",
      "refreshTokenIsAlive",
      DAY_MS,
    ),
    "refresh-token-counted-from-authorization: The 30 days count from the authorization.": afterwards(
      "afterExchange",
      (code, tokens) => {
        tokens.issuedAtMs = code.issuedAtMs;
      },
    ),
  },
  "refresh.lifetime-is-from-issue": {
    "refresh-token-restarted-by-use: Each use restarts the 30 days.": restartedIf(() => true),
    "refresh-token-lengthened-by-use: Each use adds an hour to the 30 days.": movedBy(HOUR_MS),
    "refresh-token-restarted-by-late-use: A use in the second half of the 30 days restarts them.":
      restartedIf((ageMs, { refreshTokenLifetimeMs }) => ageMs > refreshTokenLifetimeMs / 2),
    "refresh-token-shortened-by-use: Each use takes a day off the 30 days.": movedBy(-DAY_MS),
    "refresh-token-renewed-in-its-last-hour: A refreshToken used in its last hour is renewed.": restartedIf(
      (ageMs, { refreshTokenLifetimeMs }) => ageMs > refreshTokenLifetimeMs - HOUR_MS,
    ),
    "refresh-token-restarted-by-fifth-use: Every fifth use restarts the 30 days.": keeping(
      (uses = counted()) =>
        afterwards("afterRefresh", (record, _previous, { nowMs }) => {
          if (uses(record) % 5 === 0) record.issuedAtMs = nowMs;
        }),
    ),
    "refresh-token-restarted-by-refused-use: A refresh by the wrong client restarts the 30 days.": afterwards(
      "afterRefusedRefresh",
      (record, kind, context) => {
        if (record !== undefined && kind !== "refresh-token-expired") record.issuedAtMs = context.nowMs;
      },
    ),
    "refresh-tokens-renewed-by-exchange: An exchange renews every refreshToken of its client.": {
      afterExchange: (_code, { clientId }, { credentials, nowMs }) => {
        for (const token of credentials.refreshTokens.values())
          if (token.clientId === clientId) token.issuedAtMs = nowMs;
      },
    },
  },
});
