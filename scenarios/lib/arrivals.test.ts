import { describe, expect, it } from "vitest";
import { stagesOf } from "../stages.ts";
import { executorFor, lagMs } from "./arrivals.ts";

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
