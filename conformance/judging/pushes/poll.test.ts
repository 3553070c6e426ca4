import { describe, expect, it } from "vitest";
import { commonPeriodMs } from "./poll.ts";

const about = (...instants: readonly number[]) =>
  instants.map((ms) => ({ earliestMs: ms - 1_000, latestMs: ms }));
const options = { minMs: 12_000, maxMs: 30_000, stepMs: 500 };

describe("a polling period that explains all observed times", () => {
  it("is found whatever its phase", () => {
    expect(commonPeriodMs(about(7_300, 37_300, 97_300, 247_300, 517_300), options)).toBeDefined();
  });

  it("is not shorter than the given minimum", () => {
    expect(commonPeriodMs(about(10_000, 40_000, 100_000), { ...options, minMs: 29_000 })).toBe(30_000);
  });

  it("is undefined if no period explains all times", () => {
    expect(commonPeriodMs(about(30_000, 47_000, 90_000, 107_000, 37_000, 101_300), options)).toBeUndefined();
  });

  it("is not ruled out by a very uncertain time", () => {
    const vague = { earliestMs: 0, latestMs: 60_000 };
    expect(commonPeriodMs([...about(30_000, 60_000), vague], options)).toBeDefined();
  });
});
