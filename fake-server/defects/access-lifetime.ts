import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { asksFor, counted } from "../changes.ts";
import type { AccessRecord, RefreshRecord } from "../context.ts";
import { accessTokens, byWallClockIn } from "../credentials.ts";
import {
  afterwards,
  alsoIf,
  change,
  keeping,
  onlyIf,
  type Replacement,
  rows,
  together,
} from "../registry.ts";

const livesLonger = (byMs: number): Replacement =>
  accessTokens.liveFor(({ lifetimeMs }) => lifetimeMs + byMs);

/** Access tokens live for a fraction or multiple of their promised life, depending on their refresh. */
const livingBy = (
  part: number,
  marks: (record: RefreshRecord, previous: AccessRecord, refreshes: number, nowMs: number) => boolean,
): Replacement =>
  keeping((uses = counted(), marked = new WeakSet<AccessRecord>()) =>
    together(
      afterwards("afterRefresh", (record, previous, { nowMs }) => {
        if (marks(record, previous, uses(record), nowMs)) marked.add(record.latestAccess);
      }),
      accessTokens.areOlderBy((record, { nowMs }) =>
        marked.has(record) ? (nowMs - record.issuedAtMs) * (1 / part - 1) : 0,
      ),
    ),
  );

const usableTimes = (most: number): Replacement =>
  keeping((uses = counted()) => onlyIf("accessTokenIsAlive", (record) => uses(record) <= most));

/** Defects in the life of access tokens (sections 2.2 and 5.1). */
export const accessLifetimeDefects = rows({
  "access.lifetime": {
    "access-token-lives-by-local-time: An access token's age is the difference of local times in Berlin.":
      accessTokens.ageAs(byWallClockIn("Europe/Berlin")),
    "access-dies-a-second-early: An accessToken expires a second before expiresIn has passed.":
      livesLonger(-SECOND_MS),
    "access-dies-at-half-time: An accessToken expires after half of expiresIn.": accessTokens.liveFor(
      ({ lifetimeMs }) => lifetimeMs / 2,
    ),
    "access-lives-a-second-longer: An accessToken works a second longer than expiresIn.":
      livesLonger(SECOND_MS),
    "access-lives-five-minutes-longer: Every accessToken gets five minutes of leeway.": livesLonger(
      5 * MINUTE_MS,
    ),
    "access-lives-for-ever: An accessToken never expires.": accessTokens.liveFor(Infinity),
    "access-of-refresh-lives-twice-as-long: The accessToken of a refresh works twice as long as stated.":
      accessTokens.liveFor(({ lifetimeMs, refreshed }) => (refreshed ? 2 : 1) * lifetimeMs),
    "access-of-refresh-dies-within-the-hour: The accessToken of a refresh works for one hour but states two.":
      accessTokens.liveFor(({ lifetimeMs, refreshed }) => (refreshed ? HOUR_MS : lifetimeMs)),
    "access-of-refresh-ends-with-first: The accessToken of a refresh expires together with the previous one.":
      {
        afterRefresh: (record, previous) => {
          record.latestAccess.issuedAtMs = previous.issuedAtMs;
        },
      },
    "access-prolonged-by-use: Each use of an accessToken restarts its lifetime.": change(
      "accessTokenIsAlive",
      (alive, record, context) => {
        if (alive) record.issuedAtMs = context.nowMs;
        return alive;
      },
    ),
    "access-dies-idle: An accessToken expires if it is not used for half an hour.": keeping(
      (usedAtMs = new WeakMap<AccessRecord, number>()) =>
        onlyIf("accessTokenIsAlive", (record, { nowMs }) => {
          const alive = nowMs - (usedAtMs.get(record) ?? record.issuedAtMs) < 30 * MINUTE_MS;
          if (alive) usedAtMs.set(record, nowMs);
          return alive;
        }),
    ),
    "access-cached-beyond-expiry: An accepted token stays accepted for ten minutes.": keeping(
      (seenAtMs = new WeakMap<AccessRecord, number>()) =>
        change("accessTokenIsAlive", (alive, record, { nowMs }) => {
          const isCached = nowMs - (seenAtMs.get(record) ?? -Infinity) < 10 * MINUTE_MS;
          if (alive && !isCached) seenAtMs.set(record, nowMs);
          return alive || isCached;
        }),
    ),
    "access-cached-by-process-beyond-expiry: Each of eight processes accepts a token for five seconds more that it has accepted.":
      keeping((requests = 0, seenAtMs = new WeakMap<AccessRecord, Map<number, number>>()) =>
        change("accessTokenIsAlive", (alive, record, { nowMs }) => {
          requests += 1;
          const worker = requests % 8;
          const seen = seenAtMs.get(record) ?? new Map<number, number>();
          seenAtMs.set(record, seen);
          const isCached = nowMs - (seen.get(worker) ?? -Infinity) < 5 * SECOND_MS;
          if (alive && !isCached) seen.set(worker, nowMs);
          return alive || isCached;
        }),
      ),
    "access-expires-in-milliseconds: expiresIn is in milliseconds.": { expiresIn: (ms) => ms },
    "access-expires-in-microseconds: expiresIn is in microseconds, which means centuries.": {
      expiresIn: (lifetimeMs) => lifetimeMs * 1_000,
    },
    "access-expires-in-minutes: expiresIn is in minutes.": { expiresIn: (ms) => ms / MINUTE_MS },
    "access-counted-from-authorization: The lifetime of an accessToken counts from the authorization.":
      afterwards("afterExchange", (code, tokens) => {
        tokens.latestAccess.issuedAtMs = code.issuedAtMs;
      }),
    "access-renewed-in-its-last-minute: An accessToken used in its last minute is renewed.": change(
      "accessTokenIsAlive",
      (alive, record, { nowMs }) => {
        if (alive && nowMs - record.issuedAtMs > record.lifetimeMs - MINUTE_MS) record.issuedAtMs = nowMs;
        return alive;
      },
    ),
    "access-renewed-by-refresh: A refresh restarts the lifetime of the earlier accessToken.": {
      afterRefresh: (_record, previous, { nowMs }) => {
        previous.issuedAtMs = nowMs;
      },
    },
    "refreshed-again-lives-twice-as-long: From the second refresh on, accessTokens work twice as long as expiresIn.":
      livingBy(2, (_record, _previous, refreshes) => refreshes > 1),
    "refreshed-tenth-time-lives-twice-as-long: From the tenth refresh on, accessTokens work twice as long as expiresIn.":
      livingBy(2, (_record, _previous, refreshes) => refreshes >= 10),
    "refreshed-late-lives-half-as-long: After a late refresh, accessTokens work for half of expiresIn.":
      livingBy(
        0.5,
        (_record, previous, _refreshes, nowMs) => nowMs - previous.issuedAtMs > previous.lifetimeMs,
      ),
    "refreshed-within-a-minute-is-the-same-token: A second refresh within a minute returns the same accessToken and expiresIn.":
      afterwards("afterRefresh", (record, previous, context) => {
        if (previous.refreshed && context.nowMs - previous.issuedAtMs < MINUTE_MS)
          record.latestAccess = previous;
      }),
    "access-token-lives-by-time-of-day: An accessToken's age is computed from the time of day.":
      accessTokens.ageAs((ageMs, issuedAtMs, nowMs) =>
        ageMs < DAY_MS ? (nowMs % DAY_MS) - (issuedAtMs % DAY_MS) : ageMs,
      ),
    "access-token-lives-by-seconds-of-its-age: Of an accessToken's age only the seconds count, without the days, so it works again every day.":
      accessTokens.ageAs((ageMs) => ageMs % DAY_MS),
    "access-token-of-one-store-dies-early: Every eighth accessToken ends a minute early.":
      accessTokens.liveLongerInOneStore(-MINUTE_MS),
    "access-token-of-one-store-lives-longer: Every eighth accessToken works a minute longer.":
      accessTokens.liveLongerInOneStore(MINUTE_MS),
    "access-tokens-four-at-a-time: A client has at most four access tokens; a new one invalidates the oldest.":
      accessTokens.areAtMost(4),
    "access-tokens-fifty-of-a-client: A client has at most fifty access tokens; a new one invalidates the oldest.":
      accessTokens.areAtMost(50),
    "access-expired-reads-by-id: An expired access token still reads notifications by id.": alsoIf(
      "accessTokenIsAlive",
      (_record, context) => asksFor("id", context),
    ),
    "access-expired-reads-later-pages: An expired access token still reads all pages but the first.": alsoIf(
      "accessTokenIsAlive",
      (_record, { from }) => /[?&]page=[1-9]/.test(from.url ?? ""),
    ),
    "access-token-of-an-earlier-month: An accessToken works again once it is 25 days old.": alsoIf(
      "accessTokenIsAlive",
      (record, { nowMs }) => nowMs - record.issuedAtMs > 25 * DAY_MS,
    ),
    "access-token-of-hundred-requests: An accessToken works for only a hundred requests.": usableTimes(100),
    "access-token-for-fifty-requests: An accessToken works for only fifty requests.": usableTimes(50),
  },
});
