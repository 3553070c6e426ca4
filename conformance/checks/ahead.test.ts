import { expect, it } from "vitest";
import { workAhead } from "./ahead.ts";

it("processes a few values ahead, and returns each result on request", async () => {
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

it("processes an unexpected value when it is requested", async () => {
  const ahead = workAhead([1, 2], 2, (value) => Promise.resolve(value * 10));
  expect([await ahead.next(1), await ahead.next(7), await ahead.next(8)]).toEqual([10, 70, 80]);
});

it("rejects only for the value that failed, and stops once all work has ended", async () => {
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
