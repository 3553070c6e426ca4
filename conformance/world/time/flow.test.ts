import { describe, expect, it } from "vitest";
import { watchFlow } from "./flow.ts";

const watch = () => {
  let nowMs = 0;
  const flow = watchFlow({ dueMs: () => undefined, look: () => Promise.resolve(), nowMs: () => nowMs });
  return {
    flow,
    /** A reading of the target's clock at this moment of the machine's. */
    read: (realMs: number, earliestMs: number, latestMs = earliestMs): void => {
      nowMs = realMs;
      flow.note({ earliestMs, latestMs });
    },
    pass: (realMs: number): void => void (nowMs = realMs),
  };
};

describe("a clock that stands still", () => {
  it("is not read again for a short while once it has stood long enough, also after a move", () => {
    const { flow, read, pass } = watch();
    read(0, 7_000);
    read(400, 7_000);
    expect(flow.standsAt()).toBeUndefined();
    read(600, 7_000);
    expect(flow.standsAt()).toEqual({ earliestMs: 7_000, latestMs: 7_000 });
    flow.moves();
    expect(flow.standsAt()).toBeUndefined();
    read(650, 9_000);
    expect(flow.standsAt()).toEqual({ earliestMs: 9_000, latestMs: 9_000 });
    pass(800);
    expect(flow.standsAt()).toBeUndefined();
  });

  it("is read every time once it was seen to flow", () => {
    const { flow, read } = watch();
    read(0, 7_000);
    read(600, 7_000);
    read(610, 7_010);
    expect(flow.isSeen()).toBe(true);
    expect(flow.standsAt()).toBeUndefined();
  });

  it("is not recognized within the accuracy of a reading in whole seconds, nor while readings widen", () => {
    const coarse = watch();
    coarse.read(0, 7_000, 7_999);
    coarse.read(1_400, 7_000, 7_999);
    expect(coarse.flow.standsAt()).toBeUndefined();
    coarse.read(1_600, 7_000, 7_999);
    expect(coarse.flow.standsAt()).toBeDefined();
    const reckoned = watch();
    for (const realMs of [0, 1_000, 5_000]) reckoned.read(realMs, 0, realMs);
    expect(reckoned.flow.standsAt()).toBeUndefined();
  });
});

describe("a clock that somebody else moves", () => {
  it("is recognized by a step that no clock takes by itself, and not taken for one that flows", () => {
    const { flow, read } = watch();
    read(0, 7_000);
    read(200, 7_000);
    read(300, 607_000);
    expect(flow.jump()).toEqual({ wentMs: 600_000, tookMs: 100 });
    expect(flow.isSeen()).toBe(false);
  });

  it("is not suspected of one that this run moved, or that runs sixty times as fast as real time", () => {
    const { flow, read } = watch();
    read(0, 7_000);
    flow.moves();
    flow.moves();
    read(100, 607_000);
    for (let second = 1; second < 100; second += 1) read(100 + second * 1_000, 607_000 + second * 60_000);
    expect(flow.jump()).toBeUndefined();
    expect(flow.isSeen()).toBe(true);
  });

  it("is not suspected because a reading was under way while the clock was moved", () => {
    const { flow, read } = watch();
    read(0, 7_000);
    const begun = flow.moved();
    flow.moves();
    flow.moves();
    flow.note({ earliestMs: 7_000, latestMs: 7_000 }, begun);
    read(20, 607_000);
    expect(flow.jump()).toBeUndefined();
    expect(flow.isSeen()).toBe(false);
  });
});
