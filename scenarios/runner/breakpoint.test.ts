import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BreakpointStep } from "../../conformance/contract/load-record.ts";
import { searchBreakpoint } from "./breakpoint.ts";

/** A service that holds up to a rate. */
const upTo =
  (limit: number, asked: number[] = []) =>
  async (rate: number): Promise<BreakpointStep> => {
    asked.push(rate);
    return rate <= limit
      ? { rate, achieved: rate, verdict: "held" }
      : { rate, achieved: limit, verdict: "gave way", gaveWay: "service" };
  };

describe("the search for the highest rate", () => {
  it("finds the limit to within a tenth, from below, in few steps", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 20, max: 20_000 }), async (limit) => {
        const { highestRate, steps } = await searchBreakpoint({ from: 50, most: 20_000, step: upTo(limit) });
        expect(highestRate).toBeLessThanOrEqual(limit);
        expect((highestRate ?? 0) * 1.16).toBeGreaterThanOrEqual(Math.min(limit, 20_000) - 2);
        expect(steps.length).toBeLessThanOrEqual(17);
      }),
    );
  });

  it("never asks for more than it may, and ends there where all holds", async () => {
    const asked: number[] = [];
    const { highestRate } = await searchBreakpoint({ from: 100, most: 500, step: upTo(Infinity, asked) });
    expect(highestRate).toBe(500);
    expect(Math.max(...asked)).toBe(500);
  });

  it("one hiccup is no limit", async () => {
    let hiccups = 1;
    const steady = upTo(1_000);
    const { highestRate } = await searchBreakpoint({
      from: 100,
      most: 400,
      step: async (rate) => {
        if (rate !== 200 || hiccups === 0) return steady(rate);
        hiccups -= 1;
        return { rate, achieved: 10, verdict: "spoilt" };
      },
    });
    expect(highestRate).toBe(400);
  });

  it("an interruption keeps what was found so far", async () => {
    let left = 2;
    const steady = upTo(1_000);
    const { highestRate, steps } = await searchBreakpoint({
      from: 100,
      most: 800,
      step: async (rate) => (left-- > 0 ? steady(rate) : undefined),
    });
    expect({ highestRate, steps: steps.length }).toEqual({ highestRate: 200, steps: 2 });
  });

  it("says so where nothing holds, and goes no lower than a rate that means anything", async () => {
    const asked: number[] = [];
    const found = await searchBreakpoint({ from: 80, least: 25, most: 100, step: upTo(0, asked) });
    expect(found.highestRate).toBeUndefined();
    expect(asked).toEqual([80, 80, 40, 40, 25, 25]);
  });
});
