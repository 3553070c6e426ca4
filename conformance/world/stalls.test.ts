import { expect, it } from "vitest";
import { watchStalls } from "./clock.ts";
import { sumOfStalls } from "./stalls.ts";

const mostWithin = (withinMs: number, moments: readonly number[]): number => {
  const sum = sumOfStalls(withinMs, 0);
  for (const atMs of moments) sum.ranAt(atMs);
  return sum.mostMs();
};

it("stalls add up within the span, and not beyond it", () => {
  const moments = [120, 240, 360, 380];
  expect(mostWithin(1_000, moments)).toBe(300);
  expect(mostWithin(200, moments)).toBe(200);
  expect(mostWithin(1_000, [5_000])).toBe(4_980);
});

it("a timer's own delays are none", () => {
  expect(
    mostWithin(
      10_000,
      Array.from({ length: 400 }, (_, index) => (index + 1) * 25),
    ),
  ).toBe(0);
});

it("stalls are kept with their moments, those of about a second as one", () => {
  const sum = sumOfStalls(1_000, 0);
  for (const atMs of [100, 120, 220, 240, 3_000]) sum.ranAt(atMs);
  expect(sum.all()).toEqual([
    { earliestMs: 0, latestMs: 220, forMs: 160 },
    { earliestMs: 240, latestMs: 3_000, forMs: 2_740 },
  ]);
});

it("a stall shows even to the one who caused it, before the next step", () => {
  const stalls = watchStalls(1_000);
  const until = performance.now() + 100;
  while (performance.now() < until);
  expect(stalls.mostMs()).toBeGreaterThanOrEqual(80);
  const [first] = stalls.by(1_000);
  expect(first?.latestMs).toBeLessThanOrEqual(1_000);
  expect(first?.forMs).toBeGreaterThanOrEqual(80);
  stalls.stop();
});
