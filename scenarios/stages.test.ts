import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FixedShapeName } from "../conformance/contract/load-shape.ts";
import {
  askedBetween,
  askedRateAt,
  endOfStages,
  intendedStartMs,
  shapes,
  stagesOf,
  executorFor,
  lagMs,
} from "./stages.ts";

const names = Object.keys(shapes) as FixedShapeName[];
const shape = fc.constantFrom(...names);
const rate = fc.integer({ min: 1, max: 5_000 });
const durationMs = fc.integer({ min: 1_000, max: 3_600_000 });

describe("load shapes", () => {
  it.each(names)("%s covers the whole duration and peaks at the requested rate", (name) => {
    const stages = stagesOf(name, 300, 10_000);
    expect(stages.reduce((sum, stage) => sum + stage.durationMs, 0)).toBeCloseTo(10_000, 6);
    expect(Math.max(...stages.map(({ toRate }) => toRate))).toBe(300);
  });

  it("constant starts arrivals at equal intervals", () => {
    const stages = stagesOf("constant", 100, 2_000);
    expect([0, 1, 2, 199].map((index) => intendedStartMs(stages, index))).toEqual([0, 10, 20, 1_990]);
    expect(askedBetween(stages, 0, endOfStages(stages))).toBe(200);
  });

  it("ramp from zero starts the n-th arrival when the area under the rate reaches n", () => {
    const [ramp] = stagesOf("ramp", 100, 10_000);
    if (ramp === undefined) throw new Error("a ramp has a first stage");
    // 100/s over 8 s from 0: 6.25 t² arrivals after t seconds.
    expect(intendedStartMs([ramp], 100)).toBeCloseTo(4_000, 6);
    expect(askedRateAt([ramp], 4_000)).toBeCloseTo(50, 6);
  });

  it("schedule no arrival before the previous one or after the end", () => {
    fc.assert(
      fc.property(shape, rate, durationMs, fc.nat(5_000), (name, peak, lengthMs, index) => {
        const stages = stagesOf(name, peak, lengthMs);
        const here = intendedStartMs(stages, index);
        const next = intendedStartMs(stages, index + 1);
        expect(here).toBeGreaterThanOrEqual(0);
        expect(here).toBeLessThanOrEqual(next);
        expect(next).toBeLessThanOrEqual(lengthMs * (1 + 1e-9));
      }),
    );
  });

  it("add up to the total, second by second", () => {
    for (const name of names) {
      const stages = stagesOf(name, 70, 7_300);
      const bySecond = Array.from({ length: 8 }, (_, second) =>
        askedBetween(stages, second * 1_000, second * 1_000 + 1_000),
      );
      expect(bySecond.reduce((sum, asked) => sum + asked, 0)).toBeCloseTo(askedBetween(stages, 0, 7_300), 9);
      expect(endOfStages(stages)).toBeCloseTo(7_300, 6);
    }
    expect(askedBetween(stagesOf("ramp", 100, 10_000), 0, 8_000)).toBeCloseTo(400, 6);
  });
});

const users = { allocated: 5, most: 50 };

describe("arrivals", () => {
  it("at a constant rate keep fractions of an iteration", () => {
    expect(executorFor(stagesOf("constant", 100 / 3, 10_000), users, 2_000)).toEqual({
      executor: "constant-arrival-rate",
      rate: 33_333,
      timeUnit: "1000s",
      duration: "10000ms",
      preAllocatedVUs: 5,
      maxVUs: 50,
      gracefulStop: "2000ms",
    });
  });

  it("of a shape follow its stages", () => {
    expect(executorFor(stagesOf("ramp", 50, 10_000), users, 0)).toMatchObject({
      executor: "ramping-arrival-rate",
      startRate: 0,
      stages: [
        { duration: "8000ms", target: 50_000 },
        { duration: "2000ms", target: 50_000 },
      ],
    });
  });

  it("jump between stages whose rates differ", () => {
    const stages = [
      { startMs: 0, durationMs: 1_000, fromRate: 1, toRate: 1 },
      { startMs: 1_000, durationMs: 1_000, fromRate: 5, toRate: 5 },
    ];
    expect(executorFor(stages, users, 0)).toMatchObject({
      stages: [
        { duration: "1000ms", target: 1_000 },
        { duration: "0s", target: 5_000 },
        { duration: "1000ms", target: 5_000 },
      ],
    });
  });

  it("have a lag after their due time, never a negative one", () => {
    const constant = stagesOf("constant", 10, 10_000);
    expect([lagMs(constant, 0, 0), lagMs(constant, 7, 712.34), lagMs(constant, 7, 699)]).toEqual([
      0, 12.3, 0,
    ]);
    // The ramp reaches 10 a second after one second, so 5 t² arrivals are due after t, and the first after √(1/5) s.
    const ramp = stagesOf("ramp", 10, 1_250);
    expect(lagMs(ramp, 0, 450)).toBeCloseTo(450 - Math.sqrt(2 / 10) * 1_000, 0);
  });
});
