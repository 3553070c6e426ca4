import { expect, test } from "vitest";
import { guessability } from "./entropy.ts";

/** Values that look random and are the same in every run (a linear congruential generator). */
const sample = (alphabet: string, length: number, amount = 64): string[] => {
  let seed = 1n;
  const next = (): number => {
    seed = (seed * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & ((1n << 64n) - 1n);
    return Number(seed >> 33n) % alphabet.length;
  };
  return Array.from({ length: amount }, () => Array.from({ length }, () => alphabet.charAt(next())).join(""));
};

test("random values have an entropy of length times log2 of the alphabet", () => {
  expect(guessability(sample("0123456789abcdef", 32))).toMatchObject({ bits: 128, monotone: false });
});

test("constant positions add no entropy", () => {
  const labelled = sample("0123456789abcdef", 16).map((value) => `code-0000-${value}`);
  expect(guessability(labelled)).toMatchObject({ bits: 64, sharedPrefix: 10 });
});

test("counters are recognized as monotone, padded or not", () => {
  const numbers = Array.from({ length: 30 }, (_, n) => n + 95);
  expect(guessability(numbers.map(String)).monotone).toBe(true);
  expect(guessability(numbers.map((n) => String(n).padStart(9, "0"))).monotone).toBe(true);
  expect(guessability(numbers.map((n) => String((n * 7_919) % 1_000))).monotone).toBe(false);
});
