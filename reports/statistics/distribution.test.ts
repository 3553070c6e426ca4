import { build, JsHistogram } from "hdr-histogram-js";
import { describe, expect, it } from "vitest";
import {
  countedOf,
  mergeCounted,
  quantileOf,
  type Counted,
} from "../../conformance/contract/distribution.ts";
import { seededRandom, type Random } from "../../conformance/contract/random.ts";
import { normalOf } from "../testing/random.ts";
import { orderStatisticInterval, quantileEstimates, ratioOf } from "./blocks.ts";

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

  it("have order statistic intervals by the binomial distribution", () => {
    // SciPy 1.17.1: binom.ppf(0.025, n, q) and binom.ppf(0.975, n, q) + 1.
    for (const [total, share, low, high] of [
      [100, 0.5, 40, 61],
      [1_000, 0.95, 936, 964],
      [2_000, 0.99, 1_971, 1_989],
    ] as const) {
      const values = counted(Array.from({ length: total }, (_, at) => at + 1));
      expect(orderStatisticInterval(values, share, 0.95)).toEqual({ low, high });
    }
    expect(orderStatisticInterval(counted([1, 2, 3]), 0.99, 0.95)).toMatchObject({ high: Infinity });
    expect(orderStatisticInterval(counted([1, 2, 3]), 0.01, 0.95)).toMatchObject({ low: 0 });
  });
});

/** Blocks of a run whose level varies from block to block, as on a real machine. */
const varyingBlocks = (random: Random, blocks: number): Counted[] =>
  Array.from({ length: blocks }, () => {
    const base = Math.exp(0.1 * normalOf(random));
    return counted(Array.from({ length: 60 }, () => base * Math.exp(0.3 * normalOf(random))));
  });

describe("intervals from blocks of time", () => {
  it("cover the true quantile at about the stated rate, unlike intervals from single requests", () => {
    const random = seededRandom(6);
    const rounds = 150;
    let [byBlocks, byRequests] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      const blocks = varyingBlocks(random, 30);
      const [estimate] = quantileEstimates(blocks, [0.5], 0.95, random);
      const naive = orderStatisticInterval(mergeCounted(blocks), 0.5, 0.95);
      if (estimate !== undefined && estimate.low <= 1 && estimate.high >= 1) byBlocks += 1;
      if (naive.low <= 1 && naive.high >= 1) byRequests += 1;
    }
    expect(byBlocks / rounds).toBeGreaterThan(0.88);
    expect(byRequests / rounds).toBeLessThan(0.7);
  });

  it("fall back on single requests, and say so, if there are too few blocks", () => {
    const [few] = quantileEstimates(varyingBlocks(seededRandom(1), 4), [0.5], 0.95, seededRandom(2));
    const [many] = quantileEstimates(varyingBlocks(seededRandom(1), 20), [0.5], 0.95, seededRandom(2));
    expect([few?.by, many?.by]).toEqual(["requests", "blocks"]);
  });

  it("give the interval of a ratio from the intervals of both values", () => {
    const base = { value: 10, low: 9, high: 11, by: "blocks" } as const;
    const same = ratioOf(base, base);
    expect(same.ratio).toBe(1);
    expect(same.low).toBeLessThan(0.9);
    expect(same.high).toBeGreaterThan(1.1);
    const sure = ratioOf({ ...base, value: 20, low: 20, high: 20 }, { ...base, low: 10, high: 10 });
    expect(sure).toEqual({ ratio: 2, low: 2, high: 2 });
  });
});
