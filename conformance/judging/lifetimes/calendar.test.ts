import { describe, expect, it } from "vitest";
import { beforeNext, isDate, tellingTimes, type Occasion } from "./calendar.ts";

const at = (text: string): number => Date.parse(`${text}Z`);

describe("the next moment five minutes before", () => {
  it.each<readonly [Occasion, after: string, moment: string]>([
    ["a month ends", "2026-11-21T15:00", "2026-11-30T23:55"],
    ["a month ends", "2028-02-01T00:00", "2028-02-29T23:55"],
    ["a month ends", "2026-12-31T23:54", "2026-12-31T23:55"],
    ["a month ends", "2026-12-31T23:56", "2027-01-31T23:55"],
    ["clocks go forward", "2026-11-21T15:00", "2027-03-28T00:55"],
    ["clocks go forward", "2027-03-28T00:56", "2028-03-26T00:55"],
    ["March", "2026-11-21T15:00", "2027-03-13T11:55"],
    ["March", "2026-03-08T00:00", "2027-03-13T11:55"],
    ["October", "2026-10-24T11:00", "2026-10-24T11:55"],
    ["October", "2026-10-24T12:00", "2027-10-30T11:55"],
  ])("%s after %s is %s", (occasion, after, moment) => {
    expect(beforeNext(occasion, 300_000, at(after))).toBe(at(moment));
  });
});

/** When a zone changes its clocks in a year, to the day. */
const changesIn = (timeZone: string, year: number): readonly number[] => {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit" });
  const hourAt = (day: number): string => format.format(Date.UTC(year, 0, 1 + day, 12));
  return Array.from({ length: 366 }, (_, day) => day)
    .filter((day) => hourAt(day) !== hourAt(day - 1))
    .map((day) => Date.UTC(year, 0, 1 + day));
};

it.each(["Europe/Berlin", "America/New_York", "America/Los_Angeles", "Australia/Sydney", "Pacific/Auckland"])(
  "30 days from March or October hold a change of the clocks of %s in every year",
  (timeZone) => {
    for (const year of [2026, 2027, 2028, 2029, 2030, 2031, 2032]) {
      const begins = (["March", "October"] as const).map((month) => beforeNext(month, 0, Date.UTC(year, 0)));
      const isCrossed = (changeMs: number): boolean =>
        begins.some((beginMs) => beginMs < changeMs && changeMs < beginMs + 30 * 86_400_000);
      const crossed = changesIn(timeZone, year).filter(isCrossed);
      expect(crossed.length).toBeGreaterThanOrEqual(/Europe|America/.test(timeZone) ? 2 : 1);
    }
  },
);

describe("the times at which wrong dates show", () => {
  const begins = (after: string): readonly string[] =>
    tellingTimes(at(after)).map(({ earliestMs }) => new Date(earliestMs).toISOString().slice(0, 16));

  it.each([
    ["2026-01-01T00:00", ["2026-01-31T23:30", "2026-02-01T00:01", "2026-04-01T00:00"]],
    ["2026-06-15T12:00", ["2026-06-30T23:30", "2026-07-01T00:01"]],
    ["2026-06-30T23:45", ["2026-07-01T00:01"]],
    ["2026-10-05T12:00", ["2026-10-31T23:30", "2026-11-01T00:01", "2026-12-31T23:30", "2027-01-01T00:01"]],
    ["2027-12-31T23:00", ["2027-12-31T23:30", "2028-01-01T00:01", "2028-04-01T00:00"]],
  ])("after %s begin at %j", (after, expected) => {
    expect(begins(after)).toEqual(expected);
  });

  it("end before the next month's second hour, or with the first week of April", () => {
    const lengths = tellingTimes(at("2026-01-01T00:00")).map(
      ({ earliestMs, latestMs }) => (latestMs - earliestMs) / 60_000,
    );
    expect(lengths).toEqual([29, 58, 7 * 24 * 60]);
  });
});

it("a clock that counts from the start of a run tells no date", () => {
  expect(isDate(at("2026-11-30T12:00"))).toBe(true);
  expect(isDate(5_000)).toBe(false);
});
