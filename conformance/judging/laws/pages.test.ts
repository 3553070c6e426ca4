import { describe, expect, it } from "vitest";
import {
  difference,
  duplicateBreach,
  gavePage,
  matches,
  pageOf,
  pageSize,
  repeatedFrom,
  sameSet,
  tooManyBreach,
  totalBreach,
} from "./pages.ts";

describe("a page", () => {
  it("is any answer whose data is a list of objects, whatever its total", () => {
    expect(pageOf({ data: [{ id: "a" }, { id: 7 }], total: "2" })).toEqual({
      items: [{ id: "a" }, { id: 7 }],
      ids: ["a", "7"],
      total: "2",
    });
    for (const fields of [{}, { data: {} }, { data: [null] }, { data: ["a"] }])
      expect(pageOf(fields)).toBe(undefined);
  });

  it.each([
    [200, { data: [], total: 0 }, true],
    [401, { data: [], total: 0 }, false],
    [401, { data: [], total: 3 }, true],
    [401, { data: [{}] }, true],
    [200, { data: [] }, false],
    [200, { error: "no" }, false],
  ])("with status %d and body %o counts as data: %s", (status, fields, gives) => {
    expect(gavePage({ status, fields })).toBe(gives);
  });

  it.each([
    [25, 10, 0, 10],
    [25, 10, 2, 5],
    [25, 10, 3, 0],
    [20, 10, 2, 0],
    [0, 1, 0, 0],
  ])("of a list of %d with limit %d and page number %d holds %d items", (count, limit, page, size) => {
    expect(pageSize(count, limit, page)).toBe(size);
  });

  it("must not hold more items than its limit, or an id twice, ignoring case", () => {
    expect(tooManyBreach({ ids: ["a", "b"] }, 2)).toBe(undefined);
    expect(tooManyBreach({ ids: ["a", "b", "c"] }, 2)?.actual).toBe("it holds 3");
    expect(duplicateBreach({ ids: ["a", "b"] })).toBe(undefined);
    expect(duplicateBreach({ ids: ["a", "b", "A"] })?.actual).toBe("1 of 3 items are repeated");
  });

  it("is checked for ids of earlier pages, ignoring case", () => {
    expect(repeatedFrom({ ids: ["C", "d"] }, new Set(["a", "b"]))).toBe(0);
    expect(repeatedFrom({ ids: ["A", "d"] }, new Set(["a", "b"]))).toBe(1);
  });

  it.each([
    [{}, true],
    [{ id: "A" }, true],
    [{ id: "b" }, false],
    [{ accountId: "X" }, true],
    [{ id: "a", accountId: "y" }, false],
  ])("compares an item with the filters %o: %s", (filters, fits) => {
    expect(matches({ id: "a", accountId: "x" }, filters)).toBe(fits);
  });
});

describe("several pages", () => {
  it.each([
    [["a", "b"], ["B", "a"], undefined],
    [["a", "b"], ["a"], "1 missing"],
    [["a", "b"], ["a", "b", "A"], "1 repeated"],
    [["a"], ["a", "c"], "1 that do not belong"],
    [3, ["a", "b", "c"], undefined],
    [3, ["a", "b", "b"], "1 missing, 1 repeated"],
    [1, ["a", "b"], "1 that do not belong"],
    [0, [], undefined],
  ])("expected to hold %o are compared with %o", (expected, seen, wrong) => {
    expect(difference(expected, seen)).toBe(wrong);
  });
});

it("compares sets of ids ignoring order and case, but not repetition", () => {
  expect(sameSet(["a", "b"], ["B", "a"])).toBe(true);
  expect(sameSet(["a", "b"], ["a", "b", "a"])).toBe(false);
});

describe("a total under writes", () => {
  it.each([
    ["the least", 12, undefined],
    ["the most", 13, undefined],
    ["less", 11, "it is 11"],
    ["more", 14, "it is 14"],
    ["text, which breaks another rule", "12", undefined],
  ])("of 12 to 13 that is %s is judged", (_, total, actual) => {
    expect(totalBreach(total, { least: 12, most: 13 })?.actual).toBe(actual);
  });
});
