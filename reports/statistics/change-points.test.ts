import { assert, double, array, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { changePoints, fewestValues, usualChangePoints } from "./change-points.ts";
import { bestSplit, splitStatistics } from "./energy.ts";
import { normalOf } from "../testing/random.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

const series = [
  10.2, 10.1, 9.8, 10.4, 9.9, 10.0, 10.3, 12.1, 12.4, 11.9, 12.2, 12.0, 12.6, 12.3, 10.1, 9.9, 10.2, 10.0,
];

/** Values of a normal distribution around a level each. */
const noisy = (seed: number, levels: readonly number[], spread = 1): number[] => {
  const random = seededRandom(seed);
  return levels.map((level) => level + spread * normalOf(random));
};
const level = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

describe("the statistic of every split", () => {
  it("matches the reference implementation", () => {
    // signal-processing-algorithms 2.1.6 (MongoDB's E-divisive, Python): _calculate_t_stats of this series.
    const reference = [
      0, 0.690196078, 1.404166667, 2.293333333, 2.788095238, 3.928205128, 5.233333333, 6.339393939,
      3.726666667, 1.733333333, 0.781666667, 0.178354978, 0.316666667, 1.097435897, 3.280952381, 2.346666667,
      1.391666667, 0.831372549,
    ];
    const got = splitStatistics(series);
    for (const [at, value] of reference.entries()) expect(got[at]).toBeCloseTo(value, 8);
  });

  it("matches its definition for any series", () => {
    const distance = (a: readonly number[], b: readonly number[]): number =>
      a.reduce((sum, x) => sum + b.reduce((inner, y) => inner + Math.abs(x - y), 0), 0) /
      (a.length * b.length);
    assert(
      property(
        array(double({ min: -1_000, max: 1_000, noNaN: true }), { minLength: 2, maxLength: 12 }),
        (values) => {
          const statistics = splitStatistics(values);
          for (let at = 1; at < values.length; at += 1) {
            const [x, y] = [values.slice(0, at), values.slice(at)];
            const energy = 2 * distance(x, y) - distance(x, x) - distance(y, y);
            expect(statistics[at]).toBeCloseTo(((x.length * y.length) / values.length) * energy, 6);
          }
        },
      ),
    );
  });

  it("leaves at least the given number of values on either side", () => {
    expect(bestSplit(series, 3)).toMatchObject({ at: 7 });
    expect(bestSplit(series, 9)).toMatchObject({ at: 9 });
    expect(bestSplit(series, 10)).toBeUndefined();
  });
});

describe("change points", () => {
  const find = (values: readonly number[], seed = 1) =>
    changePoints(values, { ...usualChangePoints, random: seededRandom(seed) });

  it("are found where the level changes, with the levels around them", () => {
    const found = find(noisy(4, [...level(100, 30), ...level(106, 25), ...level(97, 30)]));
    expect(found.map(({ at }) => at)).toEqual([30, 55]);
    expect(found[0]?.before).toBeCloseTo(100, 0);
    expect(found[0]?.after).toBeCloseTo(106, 0);
    expect(found[1]?.after).toBeCloseTo(97, 0);
    expect(found.every(({ p }) => p <= 0.01)).toBe(true);
  });

  it("are found where only the spread changes", () => {
    const values = [...noisy(4, level(0, 60), 0.2), ...noisy(5, level(0, 60), 4)];
    const [first] = find(values);
    expect(Math.abs((first?.at ?? 0) - 60)).toBeLessThan(6);
  });

  it("are the same for the same seed", () => {
    expect(find(series, 3)).toEqual(find(series, 3));
  });

  it.each([[[]], [[1]], [[1, 2, 3]], [level(5, 40)]])("are not found in %j", (values) => {
    expect(find(values)).toEqual([]);
  });

  it("are found from the fewest values on that fewer than one in a hundred orders can split as well", () => {
    // Two of 126 ways to choose four of nine are more than that, two of 252 ways to choose five of ten are not.
    expect(fewestValues(usualChangePoints)).toBe(10);
    expect(fewestValues({ alpha: 0.05, leastStretch: 4 })).toBe(8);
    expect(fewestValues({ alpha: 0.05, leastStretch: 6 })).toBe(12);
    const stepped = (count: number) => [
      ...level(10, Math.floor(count / 2)),
      ...level(40, Math.ceil(count / 2)),
    ];
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    expect(seeds.filter((seed) => find(stepped(9), seed).length > 0)).toEqual([]);
    expect(seeds.filter((seed) => find(stepped(10), seed).length > 0).length).toBeGreaterThan(0);
  });

  it("are rare in series that do not change", () => {
    let alarms = 0;
    for (let seed = 0; seed < 300; seed += 1)
      if (find(noisy(seed, level(0, 40)), seed).length > 0) alarms += 1;
    // The level is 0.01; ten of 300 would come once in a thousand times.
    expect(alarms).toBeLessThan(10);
  });
});
