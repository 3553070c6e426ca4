import { expect, test } from "vitest";
import { inGroups, pathIn } from "./text.ts";

test("splits values into consecutive groups of at most the given size", () => {
  expect(inGroups([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(inGroups([], 3)).toEqual([]);
});

test.each(["/hook", "/hook?x=/y?z", "https://host.example:8443/hook?x=1", "HTTP://host/hook"])(
  "the path in the target %s is /hook",
  (target) => {
    expect(pathIn(target)).toBe("/hook");
  },
);
