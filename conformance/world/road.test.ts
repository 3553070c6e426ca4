import { describe, expect, it } from "vitest";
import { manualTime } from "../testing/manual-time.ts";
import { createRoad, randomOf } from "./road.ts";

const answering = (after: number) => {
  let knocks = 0;
  return { knock: () => Promise.resolve((knocks += 1) > after), knocks: () => knocks };
};

describe("a target that refuses connections", () => {
  it("is at a wrong address where nobody has ever answered: nothing is waited for", async () => {
    const { knock, knocks } = answering(0);
    expect(await createRoad({ knock, random: () => 0 }).untilBack()).toBe(false);
    expect(knocks()).toBe(0);
  });

  it("is waited for by everyone together, and counted once", async () => {
    const { knock, knocks } = answering(2);
    const road = createRoad({ knock, random: () => 0 });
    road.answered(1);
    expect(await Promise.all([road.untilBack(), road.untilBack(), road.untilBack()])).toEqual([
      true,
      true,
      true,
    ]);
    expect(knocks()).toBe(3);
    expect(road.report()).toMatchObject({ outages: 1, stayedAway: false });
    expect(road.report().longestOutageMs).toBeGreaterThan(0);
  });

  it("is given up once the budget is spent, then at once, and used again when it answers", async () => {
    const road = createRoad({ knock: () => Promise.resolve(false), random: () => 0, outageBudgetMs: 30 });
    road.answered(1);
    expect([await road.untilBack(), await road.untilBack()]).toEqual([false, false]);
    expect(road.report()).toMatchObject({ outages: 1, stayedAway: true });
    road.answered(1);
    expect(road.report().stayedAway).toBe(false);
  });

  it.each([
    [45_000, undefined, true],
    [59_000, undefined, true],
    [62_000, undefined, false],
    [45_000, 30_000, false],
    [45_000, 120_000, true],
  ])("for %i ms is waited for by a budget of %s: %s", async (awayMs, outageBudgetMs, expected) => {
    const time = manualTime();
    const knock = (): Promise<boolean> => Promise.resolve(time.nowMs() >= awayMs);
    const budget = outageBudgetMs === undefined ? {} : { outageBudgetMs };
    const road = createRoad({ knock, random: randomOf(3), time, ...budget });
    road.answered(1);
    expect(await road.untilBack()).toBe(expected);
    const { outages, longestOutageMs, stayedAway } = road.report();
    expect({ outages, stayedAway }).toEqual({ outages: 1, stayedAway: !expected });
    // It is asked at least once a second, and told as long as it was.
    expect(Math.abs(longestOutageMs - (expected ? awayMs : 0))).toBeLessThanOrEqual(1_000);
    expect(Math.max(...time.pauses)).toBeLessThanOrEqual(1_000);
  });

  it("is waited for no longer once the run is interrupted", async () => {
    const stop = new AbortController();
    const road = createRoad({
      knock: () => Promise.resolve(stop.abort()).then(() => false),
      random: () => 0,
      signal: stop.signal,
    });
    road.answered(1);
    expect(await road.untilBack()).toBe(false);
  });
});

it("waits longer with each try, within bounds, with jitter that follows from the seed", () => {
  const waits = (seed: number): readonly number[] => {
    const road = createRoad({ knock: () => Promise.resolve(true), random: randomOf(seed) });
    return [1, 2, 3, 4, 20].map((attempt) => Math.round(road.backOffMs(attempt)));
  };
  expect(waits(1)).toEqual(waits(1));
  expect(waits(1)).not.toEqual(waits(2));
  const atMost = [50, 100, 200, 400, 5_000];
  for (const seed of [1, 2, 3])
    for (const [index, wait] of waits(seed).entries()) {
      expect(wait).toBeLessThanOrEqual(atMost[index] ?? 0);
      expect(wait).toBeGreaterThanOrEqual((atMost[index] ?? 0) / 2 - 1);
    }
});
