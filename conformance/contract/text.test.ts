import { expect, test } from "vitest";
import { inGroups } from "./text.ts";

test("groups hold every value once, in order, and none is too large", () => {
  expect(inGroups([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(inGroups([], 3)).toEqual([]);
});
