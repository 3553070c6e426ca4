import { describe, expect, it } from "vitest";
import { changeScale } from "./scales.ts";

describe("the axis of changes", () => {
  it("puts no change in the middle, with twice as slow and twice as fast at equal distances from it", () => {
    const { at, ticks } = changeScale([0.8, 1.3], 0, 100);
    expect(at(1)).toBeCloseTo(50);
    expect(at(2) - 50).toBeCloseTo(50 - at(0.5));
    expect([at(0), at(1_000)]).toEqual([0, 100]);
    expect(ticks.map(({ label }) => label)).toEqual(["−16.7 %", "−9.1 %", "0 %", "+10 %", "+20 %"]);
  });

  it.each([[[]], [[1]], [[1.0001]], [[50]], [[Infinity, 0, NaN]]])("has ticks for %j", (ratios) => {
    const { at, ticks } = changeScale(ratios, 0, 100);
    expect(ticks.length).toBeGreaterThanOrEqual(3);
    expect(ticks.every((tick) => tick.at >= 0 && tick.at <= 100)).toBe(true);
    expect(at(1)).toBeCloseTo(50);
  });
});
