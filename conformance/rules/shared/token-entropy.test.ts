import fc from "fast-check";
import { expect, test } from "vitest";
import { bitsToGuess } from "./token-entropy.ts";

const sampleOf = (characters: string, length: number, seed = 1): string[] =>
  fc.sample(
    fc
      .array(fc.constantFrom(...Array.from(characters)), { minLength: length, maxLength: length })
      .map((all) => all.join("")),
    { seed, numRuns: 24 },
  );

const hex = "0123456789abcdef";
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

test("random values have length times log2 of the alphabet as bits", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    expect(bitsToGuess(sampleOf(hex, 32, seed))).toBe(128);
    expect(bitsToGuess(sampleOf(letters, 43, seed))).toBeGreaterThan(250);
  }
});

test("a part that all values share adds no bits", () => {
  const values = sampleOf(hex, 16).map((value) => `eyJhbGciOiJIUzI1NiJ9.${value}`);
  expect(bitsToGuess(values)).toBe(64);
});

test("counters have no bits, and a timestamp before random characters adds almost none", () => {
  const counters = Array.from({ length: 24 }, (_, at) => `token-${String(1_000 + at)}`);
  expect(bitsToGuess(counters)).toBe(0);
  const random = sampleOf(hex, 16);
  const timed = random.map((value, at) => `${(0x18f0_0000 + at * 77).toString(16)}${value}`);
  // The last digit of the timestamp changes too fast to be in order, so it counts as random.
  expect(bitsToGuess(timed)).toBeLessThanOrEqual(68);
});

test("repeated characters count once, and characters of a known value not at all", () => {
  const random = sampleOf(hex, 16);
  expect(bitsToGuess(random.map((value) => value + value))).toBe(64);
  expect(
    bitsToGuess(
      random.map((value) => `r${value}`),
      random,
    ),
  ).toBe(0);
});
