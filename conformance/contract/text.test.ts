import { expect, test } from "vitest";
import { inGroups } from "./text.ts";

test("splits values into consecutive groups of at most the given size", () => {
  expect(inGroups([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(inGroups([], 3)).toEqual([]);
});
