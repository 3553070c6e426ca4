import { expect, it } from "vitest";
import { hash32 } from "./random.ts";

it("hashes texts to stable and distinct 32-bit seeds", () => {
  expect([hash32(""), hash32("a"), hash32("é")]).toEqual([-2128831035, -468965076, hash32("é")]);
  const seeds = Array.from({ length: 1_000 }, (_, index) => hash32(`1:rule-${index}`));
  expect(new Set(seeds).size).toBe(1_000);
  expect(seeds.every((seed) => Number.isInteger(seed) && seed === (seed | 0))).toBe(true);
});
