import type { Clock } from "../world/clock.ts";
import { DAY_MS } from "../contract/duration.ts";

/** The next date of some kind after a given one, both in milliseconds since 1970. */
export type Moment = (afterMs: number) => number;

/** This long before a month, a day and an hour end in UTC, where ages computed from parts of a date go wrong. */
export const beforeMonthEnds =
  (leadMs: number): Moment =>
  (afterMs) => {
    const date = new Date(afterMs + leadMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - leadMs;
  };

const LONG_MONTH_DAYS = 31;

/** Noon of the first day of a month with 31 days; there is always one within 62 days. */
export const longMonthBegins: Moment = (afterMs) => {
  const date = new Date(afterMs);
  for (let month = date.getUTCMonth(); ; month += 1) {
    const noonMs = Date.UTC(date.getUTCFullYear(), month, 1, 12);
    const days =
      (Date.UTC(date.getUTCFullYear(), month + 1) - Date.UTC(date.getUTCFullYear(), month)) / DAY_MS;
    if (noonMs > afterMs && days === LONG_MONTH_DAYS) return noonMs;
  }
};

/** A clock showing an earlier time than this does not tell the date: it counts from the start of a run or a machine. */
const EARLIEST_DATE_MS = Date.UTC(2000, 0);
const LATEST_DATE_MS = Date.UTC(9000, 0);

/** Sleeps until that date on the target's clock. Returns at once if its time cannot be moved or is not a date. */
export const sleepUntilMoment = async (clock: Clock, moment: Moment): Promise<void> => {
  if (clock.kind === "real") return;
  const { latestMs } = await clock.now();
  if (latestMs > EARLIEST_DATE_MS && latestMs < LATEST_DATE_MS)
    await clock.sleep(moment(latestMs) - latestMs);
};
