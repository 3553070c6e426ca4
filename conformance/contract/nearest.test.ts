import { expect, it } from "vitest";
import { requirementIds } from "./catalogue.ts";
import { nearest } from "./nearest.ts";

it.each([
  ["code.singleuse", "code.single-use"],
  ["CODE.LIFETIME", "code.lifetime"],
  ["refresh.lifetme", "refresh.lifetime"],
  ["notification.filter-id", "notifications.filter-id"],
])("of all ids, the one most like %s is %s", (name, expected) => {
  expect(nearest(name, requirementIds)[0]).toBe(expected);
});

it("gives as many as asked for, and no more than there are", () => {
  expect(nearest("x", ["a", "b", "c", "d"])).toHaveLength(3);
  expect(nearest("x", ["a"], 5)).toEqual(["a"]);
  expect(nearest("", [])).toEqual([]);
});
