import { DAY_MS } from "../../conformance/contract/duration.ts";
import type { CodeRecord } from "../context.ts";
import { change, decide, decisions, rows } from "../registry.ts";
import { counted } from "./tools.ts";

/** The same day of the next month, or its last day if there is no such day. */
const monthLater = (fromMs: number): number => {
  const from = new Date(fromMs);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth()];
  const lastDay = new Date(Date.UTC(year, month + 2, 0)).getUTCDate();
  return Date.UTC(year, month + 1, Math.min(from.getUTCDate(), lastDay)) + (fromMs % DAY_MS);
};

/** Defects that only show at certain calendar times or after many uses. */
export const momentDefects = rows({
  "code.lifetime": {
    "code-lives-by-time-of-day: A code's age is computed from the time of day, so one from before midnight never expires.":
      decide(
        "codeIsAlive",
        (record, { nowMs, limits }) =>
          (nowMs % DAY_MS) - (record.issuedAtMs % DAY_MS) < limits.codeLifetimeMs,
      ),
  },
  "access.lifetime": {
    "access-token-lives-by-time-of-day: An accessToken's age is computed from the time of day.": decide(
      "accessTokenIsAlive",
      (record, { nowMs }) =>
        !record.revoked &&
        !record.grant.revoked &&
        nowMs - record.issuedAtMs < DAY_MS &&
        (nowMs % DAY_MS) - (record.issuedAtMs % DAY_MS) < record.lifetimeMs,
    ),
  },
  "refresh.lifetime": {
    "refresh-token-lives-a-calendar-month: A refreshToken works until the same day of the next month.":
      decide(
        "refreshTokenIsAlive",
        (record, { nowMs }) =>
          !record.revoked && !record.grant.revoked && nowMs < monthLater(record.issuedAtMs),
      ),
  },
  "code.single-use": {
    "code-used-list-of-fifty: Only the fifty latest used codes are remembered.": decisions(
      (_sound, used = new Set<CodeRecord>()) => ({
        takeCode: (record, { nowMs }) => {
          if (used.has(record)) return false;
          used.add(record);
          record.usedAtMs = nowMs;
          const [oldest] = used;
          if (used.size > 50 && oldest !== undefined) used.delete(oldest);
          return true;
        },
      }),
    ),
  },
  "push.unacknowledged-retries": {
    "push-retries-lost-at-midnight: A daily job at midnight forgets the retries that are due after it.":
      change("pushDelayMs", (usual, attempt, _delivery, { clock }) => {
        const nowMs = clock.nowMs();
        const isToday = Math.floor(nowMs / DAY_MS) === Math.floor((nowMs + usual) / DAY_MS);
        return attempt === 1 || isToday ? usual : 1_000 * DAY_MS;
      }),
  },
  "refresh.reusable": {
    "refresh-token-usable-twenty-times: A refreshToken stops working after its twentieth use.": decisions(
      (_sound, uses = counted()) => ({
        takeRefreshToken: (record) => uses(record) <= 20,
      }),
    ),
  },
});
