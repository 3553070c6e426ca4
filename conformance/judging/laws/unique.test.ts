import { expect, test } from "vitest";
import { firstRepeated } from "./tokens.ts";

test("returns the first value whose key repeats, after the earlier one", () => {
  const codes = ["a1", "b2", "c3", "b4", "a5"];
  expect(firstRepeated(codes, (code) => code.charAt(0))).toEqual(["b2", "b4"]);
});

test("returns undefined if all keys differ", () => {
  expect(firstRepeated(["a", "b", "c"], (code) => code)).toBeUndefined();
});
