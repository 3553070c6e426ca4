import { describe, expect, it } from "vitest";
import {
  noncentralTCdf,
  tQuantile,
  twoSidedP,
  holm,
  deviation,
  mean,
  median,
  predictionLimits,
  tEstimate,
  powerOf,
  smallestDetectable,
} from "./sample.ts";

/* Reference values: SciPy 1.17.1 and statsmodels 0.15.0, where no other source is named. */

describe("Student's t", () => {
  // Also in every printed table of the t distribution: 12.706, 4.303, 2.262, 2.093, 2.861, 3.883, 1.980.
  it.each([
    [0.975, 1, 12.7062047361747],
    [0.975, 2, 4.302652729749462],
    [0.975, 9, 2.262157162798205],
    [0.975, 19, 2.0930240544083087],
    [0.995, 19, 2.8609346064649794],
    [0.9995, 19, 3.883405852592131],
    [0.99999, 19, 5.626766232726144],
    [0.975, 120, 1.9799304050824402],
    [1 - 0.05 / 18, 19, 3.126595253166262],
    [0.6, 3, 0.2766706623326898],
  ])("has the reference quantile at probability %d (%d degrees of freedom)", (probability, df, quantile) => {
    expect(tQuantile(probability, df)).toBeCloseTo(quantile, 5);
    expect(tQuantile(1 - probability, df)).toBeCloseTo(-quantile, 5);
  });

  it.each([
    [2.093, 19, 2 * 0.02500118947141399],
    [-3, 5, 2 * 0.015049623948731293],
    [0.1, 4, 2 * 0.4625779204697266],
    [30, 3, 2 * 4.067640213581979e-5],
  ])("of %d with %d degrees of freedom has the reference p value", (t, df, p) => {
    expect(twoSidedP(t, df)).toBeCloseTo(p, 8);
  });

  it("has precise small p values, 0 for infinity and 1 for NaN", () => {
    expect(twoSidedP(8, 19) / (2 * 8.379773441409066e-8)).toBeCloseTo(1, 5);
    expect([twoSidedP(Infinity, 3), twoSidedP(NaN, 3)]).toEqual([0, 1]);
  });

  it.each([
    [2.093, 19, 2.5, 0.34004876098505193],
    [2.861, 19, 4, 0.14275189361615545],
    [-2.093, 19, 2.5, 7.043456248261373e-6],
    [2, 200, 3, 0.15925379377688975],
    [3, 39, 6, 0.0021505494464165546],
  ])(
    "has the reference noncentral distribution at %d (%d degrees of freedom, noncentrality %d)",
    (x, df, noncentrality, p) => {
      expect(noncentralTCdf(x, df, noncentrality)).toBeCloseTo(p, 6);
    },
  );
});

describe("a sample", () => {
  const values = [5.1, 4.9, 5.6, 5.8, 6.0, 5.2, 4.8, 5.5];

  it("has the reference mean, deviation, median, t interval and p value", () => {
    const estimate = tEstimate(values, 0.95);
    expect(mean(values)).toBeCloseTo(5.3625, 10);
    expect(deviation(values)).toBeCloseTo(0.43073856837496477, 10);
    expect([median(values), median([3, 1, 2]), median([])]).toEqual([5.35, 2, NaN]);
    expect(estimate.low).toBeCloseTo(5.0023935450857, 6);
    expect(estimate.high).toBeCloseTo(5.7226064549143, 6);
    const shifted = values.map((value) => value - 5.2);
    expect(tEstimate(shifted, 0.95).p).toBeCloseTo(0.3213620409924608, 7);
  });

  it("has an unbounded interval with fewer than two values, and an interval of width zero with equal values", () => {
    expect(tEstimate([], 0.95)).toMatchObject({ low: -Infinity, high: Infinity, p: 1 });
    expect(tEstimate([3], 0.95)).toMatchObject({ mean: 3, low: -Infinity, high: Infinity, p: 1 });
    expect(tEstimate([2, 2, 2], 0.95)).toMatchObject({ low: 2, high: 2, p: 0 });
    expect(tEstimate([0, 0, 0], 0.95)).toMatchObject({ low: 0, high: 0, p: 1 });
  });

  // Factors of Hahn and Meeker's table for one future observation.
  it.each([
    [0.95, 10, 2.3725704482942436],
    [0.95, 20, 2.1447114437491086],
    [0.99, 10, 3.4084562711196584],
    [0.99, 20, 2.9315856057076646],
  ])("has the tabulated prediction limits at confidence %d (%d values)", (confidence, count, factor) => {
    const sample = Array.from({ length: count }, (_, at) => (at * 7_919) % 101);
    const { low, high } = predictionLimits(sample, confidence);
    expect((high - mean(sample)) / deviation(sample)).toBeCloseTo(factor, 5);
    expect((mean(sample) - low) / deviation(sample)).toBeCloseTo(factor, 5);
  });
});

describe("Holm's adjustment", () => {
  it.each([
    [
      [0.01, 0.04, 0.03, 0.005],
      [0.03, 0.06, 0.06, 0.02],
    ],
    [
      [0.0001, 0.2, 0.013, 0.013, 0.7, 0.041],
      [0.0006, 0.4, 0.065, 0.065, 0.7, 0.123],
    ],
    [[], []],
  ])("of %j has the reference values", (pValues, adjusted) => {
    const got = holm(pValues);
    expect(got).toHaveLength(adjusted.length);
    for (const [at, value] of adjusted.entries()) expect(got[at]).toBeCloseTo(value, 10);
  });
});

describe("the power of a t test", () => {
  it.each([
    [0.5, 20, 0.05, 0.5645044184390203],
    [1, 10, 0.05, 0.8030968566327218],
    [0.8, 20, 0.00625, 0.6877372860564028],
    [0.3, 40, 0.05, 0.4565221127061356],
  ])(
    "has the reference value for an effect of %d deviations in %d values at level %d",
    (effect, count, alpha, power) => {
      expect(powerOf(effect, 1, count, alpha)).toBeCloseTo(power, 5);
      expect(powerOf(-3 * effect, 3, count, alpha)).toBeCloseTo(power, 5);
    },
  );

  it.each([
    [20, 0.05, 0.9, 0.7644577489062363],
    [20, 0.00625, 0.9, 0.9985072714552768],
    [10, 0.05, 0.8, 0.9960019107624178],
  ])(
    "gives the smallest effect that %d values detect at level %d with power %d",
    (count, alpha, power, effect) => {
      expect(smallestDetectable(2, count, { alpha, power })).toBeCloseTo(2 * effect, 5);
    },
  );

  it("stays within its bounds at the edges", () => {
    expect(powerOf(50, 1, 1_000, 0.001)).toBe(1);
    expect(powerOf(0.1, 0, 5, 0.05)).toBe(1);
    expect(powerOf(1, 1, 1, 0.05)).toBe(0);
    expect(smallestDetectable(1, 1, { alpha: 0.05, power: 0.9 })).toBe(Infinity);
  });
});
