import fc from "fast-check";
import { expect, test } from "vitest";
import { bitsToGuess, guessability } from "./entropy.ts";

const sampleOf = (characters: string, length: number, seed = 1, numRuns = 24): string[] =>
  fc.sample(
    fc
      .array(fc.constantFrom(...Array.from(characters)), { minLength: length, maxLength: length })
      .map((all) => all.join("")),
    { seed, numRuns },
  );

const hex = "0123456789abcdef";

test("a part that all values share adds no bits", () => {
  const values = sampleOf(hex, 16).map((value) => `eyJhbGciOiJIUzI1NiJ9.${value}`);
  expect(bitsToGuess(values)).toBe(64);
  const labelled = sampleOf(hex, 16, 1, 64).map((value) => `code-0000-${value}`);
  expect(guessability(labelled)).toMatchObject({ bits: 64, sharedPrefix: 10 });
});

test("counters have no bits, and a timestamp before random characters adds almost none", () => {
  const counters = Array.from({ length: 24 }, (_, at) => `token-${String(1_000 + at)}`);
  expect(bitsToGuess(counters)).toBe(0);
  const random = sampleOf(hex, 16);
  const timed = random.map((value, at) => `${(0x18f0_0000 + at * 77).toString(16)}${value}`);
  // The last digit of the timestamp changes too fast to be in order, so it counts as random.
  expect(bitsToGuess(timed)).toBeLessThanOrEqual(68);
});

test("counters are recognized as monotone, padded or not", () => {
  const numbers = Array.from({ length: 30 }, (_, n) => n + 95);
  expect(guessability(numbers.map(String)).monotone).toBe(true);
  expect(guessability(numbers.map((n) => String(n).padStart(9, "0"))).monotone).toBe(true);
  expect(guessability(numbers.map((n) => String((n * 7_919) % 1_000))).monotone).toBe(false);
});

test("repeated characters count once, and characters of a known value not at all", () => {
  const random = sampleOf(hex, 16);
  const labelled = random.map((value) => `r${value}`);
  expect(bitsToGuess(random.map((value) => value + value))).toBe(64);
  expect(bitsToGuess(labelled, random)).toBe(0);
});
