import { describe, expect, it } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import { readingsLeft } from "../judging/pushes/fits.ts";
import { isOverdue, nextStopMs } from "./clock-stops.ts";
import { readingsOf, type History } from "../judging/pushes/readings.ts";

const options = {
  latenessMs: 10_000,
  earlyGuardMs: 0,
  fineMs: 1_000,
  coarseMs: 60_000,
  firstDelayMs: 30_000,
  maxPushes: 5,
};
const moment = (ms: number) => ({ earliestMs: ms, latestMs: ms });
const pushed = (...instants: readonly number[]): History => ({
  triggered: moment(0),
  pushes: instants.map((ms) => ({ at: moment(ms), ended: moment(ms) })),
});
const watched = (history: History) => ({
  history,
  readings: readingsLeft(readingsOf(documentLimits), history, options),
});

const stopsFrom = (fromMs: number, untilMs: number, history: History): number[] => {
  const stops: number[] = [];
  for (let now = fromMs; now < untilMs; stops.push(now)) now = nextStopMs(now, [watched(history)], options);
  return stops;
};

describe("the stops of a clock", () => {
  it("are close together around the predictions of all remaining readings", () => {
    expect(stopsFrom(0, 32_000, pushed(0))).toEqual([29_000, 30_000, 31_000, 32_000]);
    const stops = stopsFrom(40_001, 110_000, pushed(0, 30_000));
    for (const stop of [59_000, 60_000, 89_000, 90_000, 100_001]) expect(stops).toContain(stop);
  });

  it("spread slowly while a push is a little late, and faster once it is very late", () => {
    const stops = stopsFrom(30_000, 200_000, pushed(0));
    const steps = stops.map((stop, at) => stop - (stops[at - 1] ?? 30_000));
    expect(stops.slice(0, 3)).toEqual([31_000, 32_000, 33_000]);
    expect(Math.max(...steps.filter((_, at) => (stops[at] ?? 0) <= 60_000))).toBeLessThanOrEqual(3_000);
    expect(Math.max(...steps)).toBeGreaterThan(20_000);
    expect(Math.max(...steps)).toBeLessThanOrEqual(60_000);
  });

  it("are far apart while nothing is expected, and always at least a millisecond ahead", () => {
    expect(nextStopMs(5_000.5, [], options)).toBe(65_000.5);
    expect(nextStopMs(28_999.5, [watched(pushed(0))], options)).toBe(30_000);
  });

  it("are fewer for notifications watched less closely, and few beyond the cap", () => {
    const countFor = (closeness: "exact" | "near" | "coarse", maxPushes = 5): number => {
      const instants = [0, 30_000, 90_000, 210_000, 450_000];
      let stops = 0;
      for (let now = 0; now < 1_000_000; stops += 1) {
        const seen = instants.filter((instant) => instant <= now);
        now = nextStopMs(now, [{ ...watched(pushed(...seen)), closeness }], { ...options, maxPushes });
      }
      return stops;
    };
    const [exact, near, coarse] = [countFor("exact"), countFor("near"), countFor("coarse")];
    expect(near).toBeLessThan(exact);
    expect(coarse).toBeLessThan(near);
    expect(exact).toBeLessThan(countFor("exact", 99));
    expect(exact).toBeLessThanOrEqual(36);
  });

  it("lie before a push that must be told from an earlier one, twice if intervals begin one look earlier", () => {
    const apart = [{ ...watched(pushed(0)), closeness: "apart" as const }];
    expect(nextStopMs(11_000, apart, options)).toBe(29_000);
    expect(nextStopMs(11_000, apart, { ...options, approach: 2 })).toBe(28_000);
    expect(nextStopMs(29_000, apart, options)).toBeGreaterThan(40_000);
  });

  it("are at the bounds of time-out classes while a push hangs", () => {
    const hanging: History = { triggered: moment(0), pushes: [{ at: moment(0), ended: undefined }] };
    expect(stopsFrom(0, 15_000, hanging)).toEqual([1_500, 3_500, 7_000, 12_500, 17_500]);
  });
});

describe("the remaining readings", () => {
  const names = (history: History) => watched(history).readings.map(({ name }) => name);

  it("become fewer with every push", () => {
    expect(names(pushed())).toHaveLength(8);
    expect(names(pushed(0))).toEqual(["R1", "R2", "R5", "R6", "R7"]);
    expect(names(pushed(0, 30_000, 90_000))).toEqual(["R1", "R5", "R7"]);
    expect(names(pushed(30_000, 60_000))).toEqual(["R4"]);
    expect(names(pushed(10, 20, 30))).toEqual([]);
  });

  it("say when a push is overdue in all of them", () => {
    expect(isOverdue(29_999, watched(pushed(0)))).toBe(false);
    expect(isOverdue(30_000, watched(pushed(0)))).toBe(true);
    expect(isOverdue(0, watched(pushed()))).toBe(false);
    expect(isOverdue(60_000, watched(pushed(0, 30_000)))).toBe(false);
  });
});
