import { describe, expect, it } from "vitest";
import { mapLimited } from "./map-limited.ts";

describe("mapLimited", () => {
  it("runs at most the given number at a time, and keeps the order of results", async () => {
    let running = 0;
    let most = 0;
    const doubled = await mapLimited([1, 2, 3, 4, 5, 6, 7], 3, async (value) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return value * 2;
    });
    expect(doubled).toEqual([2, 4, 6, 8, 10, 12, 14]);
    expect(most).toBe(3);
  });

  it("starts nothing after an error, and rejects only when nothing is running any more", async () => {
    let running = 0;
    const begun: number[] = [];
    const mapped = mapLimited([1, 2, 3, 4, 5, 6], 2, async (value) => {
      begun.push(value);
      running += 1;
      for (let turn = 0; turn < value; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (value === 1) throw new Error("first");
    });
    await expect(mapped).rejects.toThrow("first");
    expect(begun).toEqual([1, 2]);
    expect(running).toBe(0);
  });
});
