import { expect, test } from "vitest";
import { uuidOf } from "../conformance/contract/random.ts";
import { randomFrom } from "./random.ts";

const tokensFrom = (seed: number): readonly string[] => {
  const random = randomFrom(seed);
  return Array.from({ length: 20 }, () => random.token(32));
};

test("the same seed gives the same values, and another seed gives others", () => {
  expect(tokensFrom(3)).toEqual(tokensFrom(3));
  expect(tokensFrom(3)).not.toEqual(tokensFrom(4));
});

test("UUIDs carry their version and variant", () => {
  expect(randomFrom(9).uuid()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(uuidOf("0".repeat(32), 7)).toBe("00000000-0000-7000-8000-000000000000");
});
