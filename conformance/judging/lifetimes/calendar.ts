import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../contract/duration.ts";
import type { TimeInterval } from "../interval.ts";

/** This long before a month, a day and an hour end in UTC, where ages computed from parts of a date go wrong. */
export const beforeMonthEnds = (leadMs: number, afterMs: number): number => {
  const date = new Date(afterMs + leadMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - leadMs;
};

const LONG_MONTH_DAYS = 31;
/** A month after a later day may be a month after the 28th. */
const LAST_DAY = 27;

/**
 * A moment in a month with 31 days: another, if that is in one anyway, or else noon of the first day of one; there is
 * always one within 62 days.
 */
export const inLongMonth = (othersMs: number, afterMs: number): number => {
  const date = new Date(afterMs);
  for (let month = date.getUTCMonth(); ; month += 1) {
    const noonOf = (day: number): number => Date.UTC(date.getUTCFullYear(), month, day, 12);
    const days = (Date.UTC(date.getUTCFullYear(), month + 1, 1, 12) - noonOf(1)) / DAY_MS;
    if (days !== LONG_MONTH_DAYS) continue;
    if (othersMs >= noonOf(1) && othersMs <= noonOf(LAST_DAY)) return othersMs;
    if (noonOf(1) > afterMs) return noonOf(1);
  }
};

/** No further ahead than other rules move a clock. */
const REACH_MS = 92 * DAY_MS;
/** Others stop this long before a month ends, and this long after. */
const AROUND_MIDNIGHT_MS = { before: MINUTE_MS, after: HOUR_MS - MINUTE_MS } as const;

/**
 * Times at which dates that are written wrongly show it: the last half hour of a month and the first hour of the next
 * (days, months and days of the year that differ from one another, and midnight on a twelve-hour clock), the same around
 * the end of a year (the year of a week), and the days after clocks in Europe are put forward.
 */
export const tellingTimes = (afterMs: number): readonly TimeInterval[] => {
  const date = new Date(afterMs);
  const year = date.getUTCFullYear();
  const monthEndMs = Date.UTC(year, date.getUTCMonth() + 1);
  const around = (endMs: number): readonly TimeInterval[] => [
    { earliestMs: endMs - HOUR_MS / 2, latestMs: endMs - AROUND_MIDNIGHT_MS.before },
    { earliestMs: endMs + MINUTE_MS, latestMs: endMs + AROUND_MIDNIGHT_MS.after },
  ];
  const yearEndMs = Date.UTC(year + 1, 0);
  const aprilMs = Date.UTC(date.getUTCMonth() < 3 ? year : year + 1, 3);
  return [
    ...around(monthEndMs),
    ...(yearEndMs === monthEndMs ? [] : around(yearEndMs)),
    { earliestMs: aprilMs, latestMs: aprilMs + 7 * DAY_MS },
  ].filter(({ earliestMs }) => earliestMs > afterMs && earliestMs < afterMs + REACH_MS);
};

/** A clock showing an earlier time than this does not tell the date: it counts from the start of a run or a machine. */
const EARLIEST_DATE_MS = Date.UTC(2000, 0);
const LATEST_DATE_MS = Date.UTC(9000, 0);

/** Whether a moment of the target's clock is a date. */
export const isDate = (momentMs: number): boolean => momentMs > EARLIEST_DATE_MS && momentMs < LATEST_DATE_MS;
