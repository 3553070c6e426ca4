import { describe, expect, it } from "vitest";
import { watchFlow } from "./readings.ts";

const watch = () => {
  let nowMs = 0;
  const flow = watchFlow(() => nowMs);
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
    flow.moved();
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
    expect(flow.runs()).toBe(true);
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
    expect(flow.runs()).toBe(false);
  });

  it("is not suspected of one that this run moved, or that runs sixty times as fast as real time", () => {
    const { flow, read } = watch();
    read(0, 7_000);
    flow.moved();
    read(100, 607_000);
    for (let second = 1; second < 100; second += 1) read(100 + second * 1_000, 607_000 + second * 60_000);
    expect(flow.jump()).toBeUndefined();
    expect(flow.runs()).toBe(true);
  });
});

describe("a clock that goes back", () => {
  it("is recognized, whether it stands or runs", () => {
    const still = watch();
    still.read(0, 7_000);
    still.read(100, 2_000);
    expect(still.flow.jump()).toEqual({ wentMs: -5_000, tookMs: 100 });
    const flowing = watch();
    flowing.read(0, 7_000, 7_999);
    flowing.read(2_000, 9_000, 9_999);
    flowing.read(3_000, 6_000, 6_999);
    expect(flowing.flow.jump()).toEqual({ wentMs: -2_001, tookMs: 1_000 });
  });

  it("is told by its furthest step back, and by one on before that", () => {
    const { flow, read } = watch();
    for (const [index, atMs] of [500_000, 498_000, 499_000, 200_000, 201_000, 199_000].entries())
      read(index * 100, atMs);
    expect(flow.jump()).toEqual({ wentMs: -299_000, tookMs: 100 });
    read(600, 900_000);
    expect(flow.jump()).toEqual({ wentMs: 701_000, tookMs: 100 });
  });

  it("is not suspected of one that two machines tell a second apart, in whole seconds", () => {
    const { flow, read } = watch();
    for (let turn = 0; turn < 10; turn += 1) {
      const atMs = 7_000 + turn * 1_000 - (turn % 2) * 2_000;
      read(turn * 1_000, atMs, atMs + 999);
    }
    expect(flow.jump()).toBeUndefined();
  });
});
