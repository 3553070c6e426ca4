import { describe, expect, it } from "vitest";
import type { Reading } from "../../world/clock.ts";
import { elapsedBetween, onThisClock } from "./elapsed.ts";

const then: Reading = { wallMs: 1_900_000_000_000, machineMs: 5_000_000, ownMs: 40_000 };
/** A later process that has just started. */
const later = (wallMs: number, machineMs = wallMs): Reading => ({
  wallMs: then.wallMs + wallMs,
  machineMs: then.machineMs + machineMs,
  ownMs: 700,
});

describe("the time between two processes", () => {
  it("lies between what the wall clock and the machine's clock show", () => {
    expect(elapsedBetween(then, later(60_000, 60_030.5))).toEqual({ leastMs: 59_999, mostMs: 60_030.5 });
    expect(elapsedBetween(then, later(0))).toEqual({ leastMs: 0, mostMs: 1 });
  });

  it.each([
    ["the machine was restarted", later(60_000, -4_990_000)],
    ["the machine was restarted, and has run for longer than before", later(9_000_000, 1_000_000)],
    ["the machine slept", later(3_600_000, 60_000)],
    ["the clock was set forward", later(3_600_000 + 60_000, 60_000)],
    ["the clock was set back", later(-3_600_000, 60_000)],
    ["a clock gives no value", later(Number.NaN, 60_000)],
  ])("is unknown if %s", (_, now) => {
    expect(elapsedBetween(then, now)).toBeUndefined();
    expect(onThisClock({ earliestMs: 1, latestMs: 2 }, then, now)).toBeUndefined();
  });

  it("widens a converted interval by exactly its own uncertainty", () => {
    const at = { earliestMs: 30_000, latestMs: 30_020 };
    const moved = onThisClock(at, then, later(60_000, 60_030));
    // Ten seconds old when kept, and a minute has passed: about seventy seconds before this process's 700.
    expect(moved).toEqual({ earliestMs: 700 - 60_030 - 10_000, latestMs: 700 - 59_999 - 9_980 });
  });
});
