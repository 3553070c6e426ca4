import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BreakpointStep } from "../../conformance/contract/load-record.ts";
import { parseAsked } from "./asked-run.ts";
import { searchBreakpoint, stepsIn, type SearchOptions } from "./breakpoint.ts";

/** A service that holds up to a rate. */
const upTo =
  (limit: number, asked: number[] = []) =>
  async (rate: number): Promise<BreakpointStep> => {
    asked.push(rate);
    return rate <= limit
      ? { rate, achieved: rate, verdict: "held" }
      : { rate, achieved: limit, verdict: "gave way", gaveWay: "service" };
  };

it("a search too short for two steps is refused with the accepted duration", () => {
  const asked = { scenario: "breakpoint", rate: 100, seed: 1, durationMs: 5_000 };
  expect(() => parseAsked(asked)).toThrow(/--duration is 5s.*6s or longer/);
  expect(parseAsked({ ...asked, durationMs: 6_000 })).toMatchObject({
    scenario: "mixed",
    shape: "breakpoint",
  });
  expect(parseAsked({ ...asked, scenario: "token" }).shape).toBe("constant");
});

describe("the search for the highest rate", () => {
  const most = 16_000;
  const search = (options: Pick<SearchOptions, "most" | "step"> & Partial<SearchOptions>) =>
    searchBreakpoint({ from: 100, mostSteps: 12, ...options });

  it("finds the limit to within a tenth, from a sixteenth of the highest rate, in the steps of one minute", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: most / 16, max: most }), async (limit) => {
        const { mostSteps } = stepsIn(60_000);
        const found = await search({ from: most / 16, most, mostSteps, step: upTo(limit) });
        expect(found.isClose).toBe(true);
        expect(found.highestRate).toBeLessThanOrEqual(limit);
        expect((found.highestRate ?? 0) * 1.1).toBeGreaterThanOrEqual(limit);
      }),
    );
  });

  it("plays no more steps than allowed, and states whether its result is close", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: most }),
        fc.integer({ min: 1, max: 11 }),
        async (limit, mostSteps) => {
          const found = await search({ from: most / 16, most, mostSteps, step: upTo(limit) });
          expect(found.steps.length).toBeLessThanOrEqual(mostSteps);
          expect(found.isClose || found.steps.length === mostSteps).toBe(true);
          expect(found.highestRate ?? 0).toBeLessThanOrEqual(limit);
          expect(found.lowestBroken ?? Infinity).toBeGreaterThan(limit);
        },
      ),
    );
  });

  it("fits into durations of 10 s and more, pauses included, and states what a shorter one needs", () => {
    expect(stepsIn(60_000)).toEqual({ stepMs: 3_000, mostSteps: 12, needsMs: 60_000 });
    expect(stepsIn(6_000)).toEqual({ stepMs: 3_000, mostSteps: 2, needsMs: 10_000 });
    for (const durationMs of [10_000, 33_000, 600_000])
      expect(stepsIn(durationMs).needsMs).toBeLessThanOrEqual(durationMs);
  });

  it("has steps that together last no longer than the run", () => {
    fc.assert(
      fc.property(fc.integer({ min: 6_000, max: 36_000_000 }), (durationMs) => {
        const { stepMs, mostSteps } = stepsIn(durationMs);
        expect(stepMs * mostSteps).toBeLessThanOrEqual(durationMs);
        expect(mostSteps).toBeGreaterThanOrEqual(2);
        expect([stepMs >= 3_000, stepMs % 1_000]).toEqual([true, 0]);
        expect(mostSteps).toBeGreaterThanOrEqual(Math.min(12, Math.floor(durationMs / 5_000)));
      }),
    );
  });

  it("never exceeds the maximum rate, and ends there if every step holds", async () => {
    const asked: number[] = [];
    const { highestRate } = await search({ most: 500, step: upTo(Infinity, asked) });
    expect(highestRate).toBe(500);
    expect(Math.max(...asked)).toBe(500);
  });

  it("repeats a spoilt step instead of taking it for the limit", async () => {
    let hiccups = 1;
    const steady = upTo(1_000);
    const { highestRate } = await search({
      most: 400,
      step: async (rate) => {
        if (rate !== 200 || hiccups === 0) return steady(rate);
        hiccups -= 1;
        return { rate, achieved: 10, verdict: "spoilt" };
      },
    });
    expect(highestRate).toBe(400);
  });

  it("keeps what was found so far when it is interrupted", async () => {
    let left = 2;
    const steady = upTo(1_000);
    const step = async (rate: number) => (left-- > 0 ? steady(rate) : undefined);
    const { highestRate, steps } = await search({ most: 800, step });
    expect({ highestRate, steps: steps.length }).toEqual({ highestRate: 200, steps: 2 });
  });

  it("finds no rate if nothing holds, and goes no lower than the minimum", async () => {
    const asked: number[] = [];
    const found = await search({ from: 80, least: 25, most: 100, step: upTo(0, asked) });
    expect(found.highestRate).toBeUndefined();
    expect(asked).toEqual([80, 80, 40, 40, 25, 25]);
  });
});
