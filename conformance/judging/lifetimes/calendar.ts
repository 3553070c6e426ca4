import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../contract/duration.ts";
import type { TimeInterval } from "../interval.ts";

/** Dates at which a lifetime that is computed in the wrong way shows it; all of them in UTC. */
export type Occasion =
  /** A month, a day and an hour end, where ages computed from parts of a date go wrong. */
  | "a month ends"
  /** Clocks in Europe are put forward, where ages by local time go wrong. */
  | "clocks go forward"
  /**
   * A month with 31 days, in whose next 30 days clocks go forward in America and in Europe, or back in Australia and New
   * Zealand.
   */
  | "March"
  /** The same before clocks go back in Europe and in America. */
  | "October";

const SUNDAY = 0;

/** The n-th Sunday of a month, n from 1, or the last one of a month with 31 days. */
const sundayOf = (year: number, month: number, nth: 1 | 2 | "last"): number => {
  const from = nth === "last" ? 25 : 7 * nth - 6;
  const weekday = new Date(Date.UTC(year, month, from)).getUTCDay();
  return Date.UTC(year, month, from + ((7 + SUNDAY - weekday) % 7));
};

const MARCH = 2;
const OCTOBER = 9;
const momentsOf: Readonly<Record<Exclude<Occasion, "a month ends">, (year: number) => number>> = {
  "clocks go forward": (year) => sundayOf(year, MARCH, "last") + HOUR_MS,
  March: (year) => sundayOf(year, MARCH, 2) - DAY_MS / 2,
  October: (year) => sundayOf(year, OCTOBER, "last") - DAY_MS / 2,
};

/** The moment this long before the next such occasion, after another moment. */
export const beforeNext = (occasion: Occasion, leadMs: number, afterMs: number): number => {
  const date = new Date(afterMs + leadMs);
  const year = date.getUTCFullYear();
  if (occasion === "a month ends") return Date.UTC(year, date.getUTCMonth() + 1) - leadMs;
  const momentOf = momentsOf[occasion];
  const thisYearMs = momentOf(year) - leadMs;
  return thisYearMs > afterMs ? thisYearMs : momentOf(year + 1) - leadMs;
};

/** Each is a move of the clock, so what is further ahead is left out. */
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
