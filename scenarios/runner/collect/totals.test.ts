import { describe, expect, it } from "vitest";
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
});
