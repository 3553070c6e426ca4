import { describe, expect, it } from "vitest";
import { mergeCells, quantileInterval, quantileOf, type Cells } from "./cells.ts";
import { seededRandom } from "../../../conformance/contract/random.ts";

const cells: Cells = [
  [1, 50],
  [2, 45],
  [10, 4],
  [100, 1],
];

describe("distributions as cells", () => {
  it.each([
    [0.5, 1],
    [0.51, 2],
    [0.95, 2],
    [0.96, 10],
    [0.99, 10],
    [1, 100],
  ])("the quantile %d is %d", (share, value) => {
    expect(quantileOf(cells, share)).toBe(value);
  });

  it("merging adds counts of equal values and keeps the order", () => {
    expect(mergeCells([cells, [[2, 5]], [[0.5, 1]]])).toEqual([
      [0.5, 1],
      [1, 50],
      [2, 50],
      [10, 4],
      [100, 1],
    ]);
  });

  it("nothing has no quantile and no interval", () => {
    expect(quantileOf([], 0.5)).toBeUndefined();
    expect(quantileInterval([[], []], 0.5, seededRandom(1))).toBeUndefined();
  });
});

describe("the interval of a quantile", () => {
  /** Seconds of a service whose level wanders from second to second. */
  const wandering = (seed: number, seconds: number): Cells[] => {
    const random = seededRandom(seed);
    return Array.from({ length: seconds }, () => {
      const level = 10 + 4 * (random() + random() + random() - 1.5);
      return mergeCells(
        Array.from({ length: 50 }, (): Cells => [[Math.round((level + random()) * 10) / 10, 1]]),
      );
    });
  };

  it("covers the true median in about 95 of 100 runs, and is not merely wide", () => {
    const truth = quantileOf(mergeCells(wandering(999, 20_000)), 0.5) ?? 0;
    const intervals = Array.from({ length: 100 }, (_, seed) =>
      quantileInterval(wandering(seed, 30), 0.5, seededRandom(seed)),
    );
    const covering = intervals.filter((one) => one !== undefined && one[0] <= truth && truth <= one[1]);
    expect(covering.length).toBeGreaterThanOrEqual(85);
    const widths = intervals.map((one) => (one === undefined ? 0 : one[1] - one[0]));
    expect(Math.max(...widths)).toBeLessThan(4);
  });

  it("is the same for the same seed", () => {
    const seconds = wandering(3, 20);
    expect(quantileInterval(seconds, 0.95, seededRandom(5))).toEqual(
      quantileInterval(seconds, 0.95, seededRandom(5)),
    );
  });
});
