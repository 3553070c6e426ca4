import { describe, expect, it } from "vitest";
import { beforeMonthEnds, inLongMonth, isDate, tellingTimes } from "./calendar.ts";

const at = (text: string): number => Date.parse(`${text}Z`);

describe("the next moment five minutes before the end of a month", () => {
  const moment = (afterMs: number): number => beforeMonthEnds(300_000, afterMs);

  it.each([
    ["2026-11-21T15:00", "2026-11-30T23:55"],
    ["2028-02-01T00:00", "2028-02-29T23:55"],
    ["2026-12-31T23:54", "2026-12-31T23:55"],
    ["2026-12-31T23:56", "2027-01-31T23:55"],
  ])("after %s is %s", (after, expected) => {
    expect(moment(at(after))).toBe(at(expected));
  });
});

describe("the next moment in a month with 31 days", () => {
  const moment = (afterMs: number): number => inLongMonth(afterMs + 300_000, afterMs);

  it.each([
    ["2026-11-21T15:00", "2026-12-01T12:00"],
    ["2026-11-30T23:57", "2026-12-01T12:00"],
    ["2026-12-01T11:56", "2026-12-01T12:01"],
    ["2026-12-27T11:55", "2026-12-27T12:00"],
    ["2026-12-27T11:56", "2027-01-01T12:00"],
    ["2027-01-28T00:00", "2027-03-01T12:00"],
    ["2026-06-30T23:59", "2026-07-01T12:00"],
  ])("after %s is %s", (after, expected) => {
    expect(moment(at(after))).toBe(at(expected));
  });

  it("is never more than 62 days away", () => {
    for (let day = 0; day < 366; day += 1) {
      const afterMs = at("2027-01-01T13:00") + day * 86_400_000;
      expect(moment(afterMs) - afterMs).toBeLessThanOrEqual(62 * 86_400_000);
    }
  });
});

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
