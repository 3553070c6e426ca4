import { expect, test } from "vitest";
import { firstRepeated } from "./tokens.ts";

test("the first value that was there before comes with the one that it repeats", () => {
  const codes = ["a1", "b2", "c3", "b4", "a5"];
  expect(firstRepeated(codes, (code) => code.charAt(0))).toEqual(["b2", "b4"]);
});

test("where all keys differ nothing is repeated", () => {
  expect(firstRepeated(["a", "b", "c"], (code) => code)).toBeUndefined();
});
