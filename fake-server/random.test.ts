import { expect, test } from "vitest";
import { randomFrom, uuidOf } from "./random.ts";

test("the same seed gives the same values, another seed others", () => {
  const values = (seed: number) => Array.from({ length: 20 }, () => randomFrom(seed).token(32));
  expect(values(3)).toEqual(values(3));
  expect(values(3)).not.toEqual(values(4));
});

test("tokens have the asked-for bytes and do not repeat", () => {
  const random = randomFrom(1);
  const tokens = new Set(Array.from({ length: 5_000 }, () => random.token(24)));
  expect(tokens.size).toBe(5_000);
  for (const token of tokens) expect(token).toMatch(/^[\w-]{32}$/);
});

test("every symbol occurs at every position", () => {
  const random = randomFrom(1);
  const seen = Array.from({ length: 32 }, () => new Set<string>());
  for (let round = 0; round < 2_000; round += 1) {
    for (const [position, symbol] of [...random.token(24)].entries()) seen[position]?.add(symbol);
  }
  expect(seen.map(({ size }) => size)).toEqual(Array.from({ length: 32 }, () => 64));
});

test("UUIDs carry their version and variant", () => {
  expect(randomFrom(9).uuid()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(uuidOf("0".repeat(32), 7)).toBe("00000000-0000-7000-8000-000000000000");
});
