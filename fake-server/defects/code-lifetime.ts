import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import {
  afterwards,
  agedBy,
  keeping,
  livesFor,
  livesWhile,
  onlyIf,
  type Replacement,
  rows,
  together,
} from "../registry.ts";
import { inOneStore } from "../changes.ts";

const lives = (lifetimeMs: number): Replacement => livesFor("codeIsAlive", lifetimeMs);

/** Defects in the ten minutes of a code (sections 2.1, 3.1 and 8). */
export const codeLifetimeDefects = rows({
  "code.lifetime": {
    "code-dies-a-second-early: A code expires after 599 seconds.": lives(599 * SECOND_MS),
    "code-dies-after-nine-minutes: A code expires after nine minutes.": lives(9 * MINUTE_MS),
    "code-dies-after-one-minute: A code expires after one minute.": lives(MINUTE_MS),
    "code-dies-within-a-second: The lifetime of 600 is interpreted as milliseconds.": lives(600),
    "code-lives-a-second-longer: A code works for 601 seconds.": lives(601 * SECOND_MS),
    "code-lives-eleven-minutes: A code works for eleven minutes.": lives(11 * MINUTE_MS),
    "code-lives-an-hour: A code works for an hour.": lives(HOUR_MS),
    "code-lives-ten-hours: The lifetime of 600 is interpreted as minutes.": lives(10 * HOUR_MS),
    "code-lives-for-ever: A code never expires.": [lives(Infinity), "code.lifetime-is-not-extended"],
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
      livesWhile(
        "codeIsAlive",
        ({ issuedAtMs }, { nowMs, limits }) =>
          (nowMs % DAY_MS) - (issuedAtMs % DAY_MS) < limits.codeLifetimeMs,
      ),
    "code-lives-by-minutes-of-its-age: Of a code's age only the minutes count, without the hours, so it works again every hour.":
      livesWhile(
        "codeIsAlive",
        ({ issuedAtMs }, { nowMs, limits }) => (nowMs - issuedAtMs) % HOUR_MS < limits.codeLifetimeMs,
      ),
    "code-lives-by-seconds-of-its-age: Of a code's age only the seconds count, without the days, so it works again every day.":
      livesWhile(
        "codeIsAlive",
        ({ issuedAtMs }, { nowMs, limits }) => (nowMs - issuedAtMs) % DAY_MS < limits.codeLifetimeMs,
      ),
    "code-age-in-32-bits: The age of a code is stored in 32 bits, so it is negative after 25 days.":
      livesWhile(
        "codeIsAlive",
        ({ issuedAtMs }, { nowMs, limits }) => ((nowMs - issuedAtMs) | 0) < limits.codeLifetimeMs,
      ),
    "code-of-one-store-dies-early: Every eighth code works for nine minutes.": inOneStore(
      "keepCode",
      "codeIsAlive",
      -MINUTE_MS,
    ),
    "code-of-one-store-lives-longer: Every eighth code works for eleven minutes.": inOneStore(
      "keepCode",
      "codeIsAlive",
      MINUTE_MS,
    ),
    "code-for-shortest-state-dies-early: A code for a state of one character works for nine minutes.": onlyIf(
      "codeIsAlive",
      ({ state, issuedAtMs }, { nowMs }) => state.length > 1 || nowMs - issuedAtMs < 9 * MINUTE_MS,
    ),
    "code-for-long-state-dies-early: A code expires after nine minutes if its state is longer than 100 characters.":
      agedBy("codeIsAlive", ({ state }) => (state.length > 100 ? MINUTE_MS : 0)),
    "code-lives-by-two-clocks: Every other check of a code is made by a node whose clock is three seconds ahead.":
      keeping((checks = 0) => agedBy("codeIsAlive", () => ((checks += 1) % 2 === 0 ? 3 * SECOND_MS : 0))),
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
});
