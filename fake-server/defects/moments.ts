import type { CodeRecord, RefreshRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";
import { DAY_MS } from "./tools.ts";

/** The same day of the next month; its last day where it has no such day. */
const monthLater = (fromMs: number): number => {
  const from = new Date(fromMs);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth()];
  const lastDay = new Date(Date.UTC(year, month + 2, 0)).getUTCDate();
  return Date.UTC(year, month + 1, Math.min(from.getUTCDate(), lastDay)) + (fromMs % DAY_MS);
};

/** What only shows at another moment of the calendar, or after more uses than a few. */
export const momentDefects = {
  "code-lives-by-time-of-day": defect(
    "The age of a code is counted by the time of day, so that one from before midnight never expires.",
    ["code.lifetime"],
    () => ({
      codeIsAlive: (record, { nowMs, limits }) =>
        (nowMs % DAY_MS) - (record.issuedAtMs % DAY_MS) < limits.codeLifetimeMs,
    }),
  ),
  "access-token-lives-by-time-of-day": defect(
    "The age of an accessToken is counted by the time of day.",
    ["access.lifetime"],
    () => ({
      accessTokenIsAlive: (record, { nowMs }) =>
        !record.revoked &&
        !record.grant.revoked &&
        nowMs - record.issuedAtMs < DAY_MS &&
        (nowMs % DAY_MS) - (record.issuedAtMs % DAY_MS) < record.lifetimeMs,
    }),
  ),
  "refresh-token-lives-a-calendar-month": defect(
    "A refreshToken lives until the same day of the next month.",
    ["refresh.lifetime"],
    () => ({
      refreshTokenIsAlive: (record, { nowMs }) =>
        !record.revoked && !record.grant.revoked && nowMs < monthLater(record.issuedAtMs),
    }),
  ),
  "code-used-list-of-fifty": defect(
    "Only the fifty codes that were used last are known to be used.",
    ["code.single-use"],
    () => {
      const used = new Set<CodeRecord>();
      return {
        takeCode: (record, { nowMs }) => {
          if (used.has(record)) return false;
          used.add(record);
          record.usedAtMs = nowMs;
          const [oldest] = used;
          if (used.size > 50 && oldest !== undefined) used.delete(oldest);
          return true;
        },
      };
    },
  ),
  "refresh-token-usable-twenty-times": defect(
    "A refreshToken dies with its twentieth use.",
    ["refresh.reusable"],
    () => {
      const uses = new WeakMap<RefreshRecord, number>();
      return {
        takeRefreshToken: (record) => {
          uses.set(record, (uses.get(record) ?? 0) + 1);
          return (uses.get(record) ?? 0) <= 20;
        },
      };
    },
  ),
} satisfies Record<string, Defect>;
