import { describe, expect, it } from "vitest";
import { mergeCounted, quantileOf, type Counted } from "../../../conformance/contract/distribution.ts";
import { seededRandom } from "../../../conformance/contract/random.ts";
import { counted } from "../testing/counted.ts";
import { quantileInterval } from "./objectives.ts";

const none = counted({});

describe("distributions", () => {
  it.each([
    [0.5, 1],
    [0.51, 2],
    [0.95, 2],
    [0.96, 10],
    [0.99, 10],
    [1, 100],
  ])("have the quantile %d at %d", (share, value) => {
    const found = quantileOf(counted({ 1: 50, 2: 45, 10: 4, 100: 1 }), share);
    expect(Math.abs(found / value - 1)).toBeLessThanOrEqual(0.001);
  });

  it("are merged by adding counts of equal values, in order", () => {
    expect(mergeCounted([counted({ 1: 50, 2: 45, 10: 4 }), counted({ 2: 5 }), counted({ 0.5: 1 })])).toEqual(
      counted({ 0.5: 1, 1: 50, 2: 50, 10: 4 }),
    );
  });

  it("without values have no quantile and no interval", () => {
    expect(quantileOf(none, 0.5)).toBeNaN();
    expect(quantileInterval([none, none], 0.5, seededRandom(1))).toBeUndefined();
  });
});

describe("the interval of a quantile", () => {
  /** Seconds of a service whose level wanders from second to second. */
  const wandering = (seed: number, seconds: number): Counted[] => {
    const random = seededRandom(seed);
    return Array.from({ length: seconds }, () => {
      const level = 10 + 4 * (random() + random() + random() - 1.5);
      const latencies = Array.from({ length: 50 }, () => Math.round((level + random()) * 10) / 10);
      return counted(
        Object.fromEntries(
          Map.groupBy(latencies, (ms) => ms)
            .entries()
            .map(([ms, { length }]) => [ms, length]),
        ),
      );
    });
  };

  it("covers the true median in at least 34 of 40 runs, and is not merely wide", () => {
    const truth = quantileOf(mergeCounted(wandering(999, 5_000)), 0.5);
    const intervals = Array.from({ length: 40 }, (_, seed) =>
      quantileInterval(wandering(seed, 30), 0.5, seededRandom(seed)),
    );
    const covering = intervals.filter((one) => one !== undefined && one.low <= truth && truth <= one.high);
    expect(covering.length).toBeGreaterThanOrEqual(34);
    const widths = intervals.map((one) => (one === undefined ? 0 : one.high - one.low));
    expect(Math.max(...widths)).toBeLessThan(4);
  });

  it("is the same for the same seed", () => {
    const seconds = wandering(3, 20);
    expect(quantileInterval(seconds, 0.95, seededRandom(5))).toEqual(
      quantileInterval(seconds, 0.95, seededRandom(5)),
    );
  });
});
