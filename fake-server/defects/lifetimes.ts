import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { counted } from "../changes.ts";
import { byWallClockIn, codes, refreshTokens } from "../credentials.ts";
import type { ServiceLimits } from "../context.ts";
import { afterwards, everyNth, keeping, onlyIf, type Replacement, rows, together } from "../registry.ts";

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

/** Defects in the ten minutes of a code and in the 30 days of a refresh token (sections 2.1, 2.2, 3.1, 3.2 and 8). */
export const lifetimeDefects = rows({
  "code.lifetime": {
    "code-dies-a-second-early: A code expires after 599 seconds.": codes.liveFor(599 * SECOND_MS),
    "code-dies-after-nine-minutes: A code expires after nine minutes.": codes.liveFor(9 * MINUTE_MS),
    "code-dies-after-one-minute: A code expires after one minute.": codes.liveFor(MINUTE_MS),
    "code-dies-within-a-second: The lifetime of 600 is interpreted as milliseconds.": codes.liveFor(600),
    "code-lives-a-second-longer: A code works for 601 seconds.": codes.liveFor(601 * SECOND_MS),
    "code-lives-eleven-minutes: A code works for eleven minutes.": codes.liveFor(11 * MINUTE_MS),
    "code-lives-an-hour: A code works for an hour.": codes.liveFor(HOUR_MS),
    "code-lives-ten-hours: The lifetime of 600 is interpreted as minutes.": codes.liveFor(10 * HOUR_MS),
    "code-swept-every-five-minutes: Expired codes work until they are removed, every five minutes.": {
      codeIsAlive: (record, { nowMs, limits }) => {
        const sweepMs = 5 * MINUTE_MS;
        const expiresAtMs = record.issuedAtMs + limits.codeLifetimeMs;
        return nowMs < (Math.floor(expiresAtMs / sweepMs) + 1) * sweepMs;
      },
    },
    "code-counted-from-latest-authorization: The ten minutes count from the client's latest authorization.":
      keeping((latest = new Map<string, number>()) =>
        together(
          afterwards("keepCode", ({ clientId }, { nowMs }) => void latest.set(clientId, nowMs)),
          {
            codeIsAlive: ({ clientId }, { nowMs, limits }) =>
              nowMs - (latest.get(clientId) ?? 0) < limits.codeLifetimeMs,
          },
        ),
      ),
    "code-lives-by-time-of-day: A code's age is computed from the time of day, so one from before midnight never expires.":
      codes.ageAs((_ageMs, issuedAtMs, nowMs) => (nowMs % DAY_MS) - (issuedAtMs % DAY_MS)),
    "code-lives-by-minutes-of-its-age: Of a code's age only the minutes count, without the hours, so it works again every hour.":
      codes.ageAs((ageMs) => ageMs % HOUR_MS),
    "code-lives-by-seconds-of-its-age: Of a code's age only the seconds count, without the days, so it works again every day.":
      codes.ageAs((ageMs) => ageMs % DAY_MS),
    "code-lives-by-local-time: A code's age is the difference of local times in Berlin.": codes.ageAs(
      byWallClockIn("Europe/Berlin"),
    ),
    "code-age-in-32-bits: The age of a code is stored in 32 bits, so it is negative after 25 days.":
      codes.ageAs((ageMs) => ageMs | 0),
    "code-of-one-store-dies-early: Every eighth code works for nine minutes.":
      codes.liveLongerInOneStore(-MINUTE_MS),
    "code-of-one-store-lives-longer: Every eighth code works for eleven minutes.":
      codes.liveLongerInOneStore(MINUTE_MS),
    "code-for-shortest-state-dies-early: A code for a state of one character works for nine minutes.": onlyIf(
      "codeIsAlive",
      ({ state, issuedAtMs }, { nowMs }) => state.length > 1 || nowMs - issuedAtMs < 9 * MINUTE_MS,
    ),
    "code-for-long-state-dies-early: A code expires after nine minutes if its state is longer than 100 characters.":
      codes.areOlderBy(({ state }) => (state.length > 100 ? MINUTE_MS : 0)),
    "code-lives-by-two-clocks: Every other check of a code is made by a node whose clock is three seconds ahead.":
      everyNth(
        2,
        codes.areOlderBy(() => 3 * SECOND_MS),
      ),
  },
  "code.lifetime code.lifetime-is-not-extended": {
    "code-lives-for-ever: A code never expires.": codes.liveFor(Infinity),
  },
  "code.lifetime-is-not-extended": {
    "code-restarted-by-refused-attempt: Every refused attempt restarts the code's ten minutes.": {
      afterRefusedExchange: (record, _kind, { nowMs }) => {
        if (record !== undefined) record.issuedAtMs = nowMs;
      },
    },
    "code-restarted-by-wrong-secret: An attempt with a wrong secret restarts the code's ten minutes.": ({
      afterRefusedExchange,
      codeIsAlive,
    }) => ({
      afterRefusedExchange: (record, kind, context) => {
        afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind === "client-unauthenticated" && codeIsAlive(record, context))
          record.issuedAtMs = context.nowMs;
      },
    }),
    "code-lengthened-by-refused-attempt: Each refused attempt extends the code's life by a minute.": (
      sound,
    ) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && sound.codeIsAlive(record, context)) record.issuedAtMs += MINUTE_MS;
      },
    }),
    "code-revived-by-trying: An expired code becomes valid again once it is tried.": afterwards(
      "afterRefusedExchange",
      (record, kind, { nowMs }) => {
        if (record !== undefined && kind === "code-expired") record.issuedAtMs = nowMs;
      },
    ),
  },
  "refresh.lifetime": {
    "refresh-token-dies-a-second-early: A refreshToken expires a second before its 30 days are over.":
      refreshTokens.liveFor(30 * DAY_MS - SECOND_MS),
    "refresh-token-dies-a-day-early: A refreshToken expires after 29 days.": refreshTokens.liveFor(
      29 * DAY_MS,
    ),
    "refresh-token-dies-after-a-week: A refreshToken expires after seven days.": refreshTokens.liveFor(
      7 * DAY_MS,
    ),
    "refresh-token-dies-within-the-hour: The 30 days, in seconds, are interpreted as milliseconds.":
      refreshTokens.liveFor((30 * DAY_MS) / SECOND_MS),
    "refresh-token-dies-idle: A refreshToken expires if it is not used for ten days.": onlyIf(
      "refreshTokenIsAlive",
      ({ latestAccess }, { nowMs }) => nowMs - latestAccess.issuedAtMs <= 10 * DAY_MS,
    ),
    "refresh-token-lives-a-second-longer: A refreshToken works for 30 days and a second.":
      refreshTokens.liveFor(30 * DAY_MS + SECOND_MS),
    "refresh-token-lives-a-day-longer: A refreshToken works for 31 days.": refreshTokens.liveFor(31 * DAY_MS),
    "refresh-token-lives-to-midnight: A refreshToken works to the end of its thirtieth day.": {
      refreshTokenIsAlive: (record, { nowMs, limits }) =>
        nowMs < Math.ceil((record.issuedAtMs + limits.refreshTokenLifetimeMs + 1) / DAY_MS) * DAY_MS,
    },
    "refresh-token-lives-a-calendar-month: A refreshToken works until the same day of the next month.":
      refreshTokens.liveWhile(({ issuedAtMs }, { nowMs }) => nowMs < monthLater(issuedAtMs)),
    "refresh-token-lives-by-local-time: A refreshToken's age is the difference of local times in London.":
      refreshTokens.ageAs(byWallClockIn("Europe/London")),
    "refresh-token-lives-by-local-time-of-new-york: A refreshToken's age is the difference of local times in New York.":
      refreshTokens.ageAs(byWallClockIn("America/New_York")),
    "refresh-token-lives-by-local-time-of-sydney: A refreshToken's age is the difference of local times in Sydney.":
      refreshTokens.ageAs(byWallClockIn("Australia/Sydney")),
    "refresh-token-age-in-32-bits: A refreshToken's age is stored in 32 bits and wraps around after 50 days.":
      refreshTokens.ageAs((ageMs) => ageMs >>> 0),
    "refresh-token-of-one-store-dies-early: Every eighth refreshToken works for 29 days.":
      refreshTokens.liveLongerInOneStore(-DAY_MS),
    "refresh-token-of-one-store-lives-longer: Every eighth refreshToken works for 31 days.":
      refreshTokens.liveLongerInOneStore(DAY_MS),
    "refresh-token-counted-from-authorization: The 30 days count from the authorization.": afterwards(
      "afterExchange",
      (code, tokens) => {
        tokens.issuedAtMs = code.issuedAtMs;
      },
    ),
  },
  "refresh.lifetime refresh.lifetime-is-from-issue": {
    "refresh-token-lives-for-ever: A refreshToken never expires.": refreshTokens.liveFor(Infinity),
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
