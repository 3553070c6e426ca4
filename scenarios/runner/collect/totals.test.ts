import { describe, expect, it } from "vitest";
import { mergeCounted, quantileOf } from "../../../conformance/contract/distribution.ts";
import { createBlocks } from "./totals.ts";
import { histogramOf } from "../testing/loads.ts";
import { countedMs } from "./histograms.ts";

describe("blocks", () => {
  const noted = (values: readonly number[]) => countedMs(histogramOf(values));

  it("stay few however long the run is, and lose no count", () => {
    const blocks = createBlocks();
    const seconds = Array.from({ length: 7 }, (_, at) => noted([1 + at, 1 + at, 50]));
    for (let second = 0; second < 5_000; second += 1) blocks.add(seconds[second % 7] ?? noted([]));
    expect(blocks.all().length).toBeLessThanOrEqual(121);
    expect(blocks.all().length).toBeGreaterThanOrEqual(60);
    expect(blocks.all().reduce((sum, { total }) => sum + total, 0)).toBe(15_000);
  });

  it("merge distributions as if they were one", () => {
    const [a, b] = [
      [1, 2, 2, 700, 0.001],
      [2, 3, 90_000],
    ];
    expect(mergeCounted([noted(a), noted(b)])).toEqual(noted([...a, ...b]));
    expect(mergeCounted([noted(b), noted(a)])).toEqual(noted([...a, ...b]));
    expect(mergeCounted([noted([]), noted(a)])).toEqual(noted(a));
    expect([...noted(a).counts]).toEqual([1, 1, 2, 1]);
    for (const [share, value] of Object.entries({ 0.2: 0.001, 0.4: 1, 0.8: 2, 1: 700 }))
      expect(Math.abs(quantileOf(noted(a), Number(share)) / value - 1)).toBeLessThanOrEqual(0.001);
  });
});
