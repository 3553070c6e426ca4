import { build, JsHistogram } from "hdr-histogram-js";
import { describe, expect, it } from "vitest";
import { countedOf, drawnIntervals, mergeCounted, quantileOf, type Counted } from "./distribution.ts";
import { seededRandom, type Random } from "./random.ts";
import { normalOf } from "../../reports/testing/random.ts";

const counted = (values: readonly number[]): Counted =>
  mergeCounted([
    {
      values: Float64Array.from(values.toSorted((a, b) => a - b)),
      counts: Float64Array.from(values, () => 1),
      total: values.length,
    },
  ]);

const histogramOf = (values: readonly number[]): JsHistogram => {
  const histogram = build({ highestTrackableValue: 3_600_000_000, numberOfSignificantValueDigits: 3 });
  for (const value of values) histogram.recordValue(value);
  if (!(histogram instanceof JsHistogram)) throw new Error("it is another kind of histogram");
  return histogram;
};

describe("quantiles", () => {
  it("are the smallest value whose cumulative share reaches the given one", () => {
    const ten = counted([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect([0, 0.07, 0.1, 0.11, 0.5, 0.95, 1].map((share) => quantileOf(ten, share))).toEqual([
      1, 1, 1, 2, 5, 10, 10,
    ]);
    expect(quantileOf(counted([]), 0.5)).toBeNaN();
  });

  it("of merged histograms are within 0.1 % of those of the raw values", () => {
    const random = seededRandom(2);
    const raw = Array.from({ length: 20_000 }, () => Math.round(3_000 * Math.exp(0.8 * normalOf(random))));
    const merged = mergeCounted(
      [0, 1, 2, 3].map((part) => countedOf(histogramOf(raw.slice(part * 5_000, (part + 1) * 5_000)), 1_000)),
    );
    const sorted = raw.toSorted((a, b) => a - b);
    expect(merged.total).toBe(20_000);
    for (const share of [0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1]) {
      const exact = (sorted[Math.ceil(share * raw.length) - 1] ?? 0) / 1_000;
      expect(Math.abs(quantileOf(merged, share) / exact - 1)).toBeLessThan(0.001);
    }
  });
});

/** Blocks of a run whose level varies from block to block, as on a real machine. */
const varyingBlocks = (random: Random, blocks: number): Counted[] =>
  Array.from({ length: blocks }, () => {
    const base = Math.exp(0.1 * normalOf(random));
    return counted(Array.from({ length: 60 }, () => base * Math.exp(0.3 * normalOf(random))));
  });

describe("intervals from blocks of time", () => {
  it("cover the true quantile at about the stated rate", () => {
    const random = seededRandom(6);
    const rounds = 150;
    let covered = 0;
    for (let round = 0; round < rounds; round += 1) {
      const [interval] = drawnIntervals(varyingBlocks(random, 30), [0.5], 0.95, random);
      if (interval !== undefined && interval.low <= 1 && interval.high >= 1) covered += 1;
    }
    expect(covered / rounds).toBeGreaterThan(0.88);
  });
});
