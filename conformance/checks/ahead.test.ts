import { expect, it } from "vitest";
import { workAhead } from "./ahead.ts";

it("works on a few values at a time, and gives each result once it is asked for", async () => {
  const begun: number[] = [];
  const ahead = workAhead([1, 2, 3, 4], 2, (value) => {
    begun.push(value);
    return Promise.resolve(value * 10);
  });
  expect(await ahead.next(1)).toBe(10);
  expect(begun).toEqual([1, 2]);
  expect([await ahead.next(2), await ahead.next(3), await ahead.next(4)]).toEqual([20, 30, 40]);
  expect(begun).toEqual([1, 2, 3, 4]);
});

it("judges a value that was not foreseen when it comes", async () => {
  const ahead = workAhead([1, 2], 2, (value) => Promise.resolve(value * 10));
  expect([await ahead.next(1), await ahead.next(7), await ahead.next(8)]).toEqual([10, 70, 80]);
});

it("gives an error to the caller that asks for its result, and stops once all have ended", async () => {
  let ended = 0;
  const ahead = workAhead([1, 2, 3], 3, async (value) => {
    await Promise.resolve();
    ended += 1;
    if (value === 2) throw new Error("two");
    return value;
  });
  expect(await ahead.next(1)).toBe(1);
  await ahead.stop();
  expect(ended).toBe(3);
  await expect(ahead.next(2)).rejects.toThrow("two");
});
