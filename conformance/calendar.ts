import type { Clock } from "./world/clock.ts";

/** Moments of the calendar, in milliseconds since 1970, that come after a given one. */
export type Moment = (afterMs: number) => number;

/** This much before a month of the UTC calendar is over, and with it a day and an hour: whoever counts by parts of a date gets less than was there. */
export const beforeMonthEnds =
  (leadMs: number): Moment =>
  (afterMs) => {
    const date = new Date(afterMs + leadMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - leadMs;
  };

const DAY_MS = 86_400_000;
const LONG_MONTH_DAYS = 31;

/** Noon of the first day of a month of 31 days; within 62 days there is always one. */
export const longMonthBegins: Moment = (afterMs) => {
  const date = new Date(afterMs);
  for (let month = date.getUTCMonth(); ; month += 1) {
    const noonMs = Date.UTC(date.getUTCFullYear(), month, 1, 12);
    const days =
      (Date.UTC(date.getUTCFullYear(), month + 1) - Date.UTC(date.getUTCFullYear(), month)) / DAY_MS;
    if (noonMs > afterMs && days === LONG_MONTH_DAYS) return noonMs;
  }
};

/** Clocks that count from the start of a run or of a machine are years behind this. */
const EARLIEST_DATE_MS = Date.UTC(2000, 0);
const LATEST_DATE_MS = Date.UTC(9000, 0);

/** Sleeps until the next such moment of the target's calendar. Where its time cannot be moved, or is no date, it does not wait. */
export const sleepUntilMoment = async (clock: Clock, moment: Moment): Promise<void> => {
  if (clock.kind === "real") return;
  const { latestMs } = await clock.now();
  if (latestMs > EARLIEST_DATE_MS && latestMs < LATEST_DATE_MS)
    await clock.sleep(moment(latestMs) - latestMs);
};
