import { describe, expect, it } from "vitest";
import { documentLimits } from "../../contract/limits.ts";
import { instantsOf, lastInstantMs, readingsOf, dueOf, watchMs } from "./readings.ts";
import { outageAfterMs, pushRunMs, silenceAfterMs } from "../../pushes/span.ts";

const readings = readingsOf(documentLimits);
const named = (name: string) => {
  const found = readings.find((reading) => reading.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};

describe("readings", () => {
  it.each([
    ["R1", [0, 30, 90, 210, 450]],
    ["R2", [0, 30, 60, 120, 240]],
    ["R3", [30, 90, 210, 450, 930]],
    ["R4", [30, 60, 120, 240, 480]],
    ["R5", [0, 30, 90, 210, 450, 930]],
    ["R6", [0, 30, 60, 120, 240, 480]],
    ["R7", [0, 30, 90, 210, 450, 690]],
    ["R8", [30, 90, 210, 450]],
  ])("%s expects pushes at %j seconds", (name, seconds) => {
    expect(instantsOf(named(name)).map((instant) => instant / 1_000)).toEqual(seconds);
  });

  it("follow other delays and another cap", () => {
    const [first] = readingsOf({ pushDelaysMs: [100, 200], maxPushes: 4 });
    expect(first === undefined ? [] : instantsOf(first)).toEqual([0, 100, 300, 700]);
  });

  it("double the delay if only one is given", () => {
    const [first] = readingsOf({ pushDelaysMs: [100], maxPushes: 4 });
    expect(first?.delaysMs).toEqual([0, 100, 200, 400]);
  });
});

describe("the time at which a push is due", () => {
  const at = (ms: number) => ({ earliestMs: ms - 1_000, latestMs: ms });
  const history = {
    triggered: { earliestMs: 0, latestMs: 0 },
    pushes: [
      { at: at(1_000), ended: at(11_000) },
      { at: at(32_000), ended: at(52_000) },
    ],
  };

  it("counts from the start of the previous push", () => {
    expect(dueOf(named("R1"), "start", 2, history)).toEqual({ earliestMs: 91_000, latestMs: 92_000 });
    expect(dueOf(named("R1"), "start", 1, history)).toEqual({ earliestMs: 30_000, latestMs: 31_000 });
  });

  it("counts from the failure of the previous push", () => {
    expect(dueOf(named("R1"), "failure", 2, history)).toEqual({ earliestMs: 111_000, latestMs: 112_000 });
  });

  it("counts from the first push under R2, and from the event under R4", () => {
    expect(dueOf(named("R2"), "start", 2, history)).toEqual({ earliestMs: 60_000, latestMs: 61_000 });
    expect(dueOf(named("R4"), "start", 2, history)).toEqual({ earliestMs: 120_000, latestMs: 120_000 });
  });

  it("is uncertain by minutes if the previous push was not seen to end", () => {
    const hanging = { ...history, pushes: [{ at: at(1_000), ended: undefined }] };
    expect(dueOf(named("R1"), "failure", 1, hanging)).toEqual({ earliestMs: 31_000, latestMs: 331_000 });
  });

  it("is undefined beyond the last push", () => {
    expect(dueOf(named("R1"), "start", 5, history)).toBeUndefined();
  });
});

describe("a push run", () => {
  it("lasts past the last push of every reading, but less than 17 minutes", () => {
    expect(lastInstantMs(documentLimits)).toBe(930_000);
    expect(watchMs(documentLimits, { latenessMs: 10_000 })).toBeGreaterThan(970_000);
    expect(pushRunMs(documentLimits, undefined)).toBeLessThan(17 * 60_000);
  });

  it("lets the receiver be out in real time when no reading expects a push, which is late by then, before silence", () => {
    const outMs = outageAfterMs(documentLimits, 35_000) ?? 0;
    expect([outMs > 138_000, outMs + 35_000 < 210_000]).toEqual([true, true]);
    // Where delays are so short that it would take as long as the gap, it comes before all others.
    expect(outageAfterMs(documentLimits, 60_000)).toBeUndefined();
  });

  it("lets pushes hang at a time when no reading within the cap expects another push", () => {
    const afterMs = silenceAfterMs(documentLimits);
    expect([afterMs > 500_000, afterMs < 600_000]).toEqual([true, true]);
    // The fewer readings are left, the sooner.
    const [first] = readingsOf(documentLimits);
    if (first === undefined) throw new Error("a schedule has readings");
    expect(silenceAfterMs(documentLimits, [first])).toBeCloseTo(261_000);
  });
});
