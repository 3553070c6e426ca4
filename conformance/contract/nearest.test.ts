import { expect, it } from "vitest";
import { requirementIds } from "./catalogue.ts";
import { nearest } from "./nearest.ts";

it.each([
  ["code.singleuse", "code.single-use"],
  ["CODE.LIFETIME", "code.lifetime"],
  ["refresh.lifetme", "refresh.lifetime"],
  ["notification.filter-id", "notifications.filter-id"],
])("suggests for %s the most similar id, %s", (name, expected) => {
  expect(nearest(name, requirementIds)[0]).toBe(expected);
});

it("returns at most the requested number of candidates, three by default", () => {
  expect(nearest("x", ["a", "b", "c", "d"])).toHaveLength(3);
  expect(nearest("x", ["a"], 5)).toEqual(["a"]);
  expect(nearest("", [])).toEqual([]);
});
