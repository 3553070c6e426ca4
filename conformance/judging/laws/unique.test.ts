import { expect, test } from "vitest";
import { firstRepeated } from "./tokens.ts";

test("the first repeated value is returned with the earlier one", () => {
  const codes = ["a1", "b2", "c3", "b4", "a5"];
  expect(firstRepeated(codes, (code) => code.charAt(0))).toEqual(["b2", "b4"]);
});

test("nothing is repeated if all keys differ", () => {
  expect(firstRepeated(["a", "b", "c"], (code) => code)).toBeUndefined();
});
