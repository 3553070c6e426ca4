import { describe, expect, it } from "vitest";
import { ageAt, cutFrom, datedBackFrom, distanceFromEnd, guardFor, judgeProbe, sideOf } from "./probe.ts";

const at = (earliestMs: number, latestMs = earliestMs) => ({ earliestMs, latestMs });

/** Issued between 1,000 and 1,200, lives for 10 s, judged with a guard of 500 ms. */
const token = { issued: at(1_000, 1_200), lifetimeMs: 10_000 };
const GUARD_MS = 500;
const running = { kind: "virtual", isTold: true, runs: () => true } as const;
const standing = { ...running, runs: () => false };

describe("the side that a probe was on", () => {
  it.each([
    ["alive while the maximum age is under the lifetime less the guard", at(10_499), "alive"],
    ["unknown once the maximum age reaches the lifetime less the guard", at(10_500), undefined],
    ["unknown if only the minimum age is under the lifetime less the guard", at(9_000, 10_500), undefined],
    ["unknown until the minimum age reaches the lifetime plus the guard", at(11_699), undefined],
    ["unknown until then even if the maximum age is far greater", at(11_600, 90_000), undefined],
    ["dead once the minimum age reaches the lifetime plus the guard", at(11_700), "dead"],
    ["dead a fraction of a millisecond earlier: clocks are read in whole ones", at(11_699.01), "dead"],
  ])("is %s", (_, now, side) => {
    expect(sideOf(ageAt(token, now, GUARD_MS, standing))).toBe(side);
  });

  it.each([Number.NaN, 0, -1, Infinity])("is unknown if the lifetime is %d", (lifetimeMs) => {
    expect(sideOf(ageAt({ issued: at(0), lifetimeMs }, at(5), GUARD_MS, standing))).toBeUndefined();
  });

  it("is dead a second after the end at the earliest if the stated lifetime may have been cut to whole seconds", () => {
    const cut = { ...token, lifetimeMs: 9_000, cutMs: cutFrom(9_000, true) };
    expect(sideOf(ageAt(cut, at(11_198), GUARD_MS, standing))).toBeUndefined();
    expect(sideOf(ageAt(cut, at(11_200), GUARD_MS, standing))).toBe("dead");
    expect(sideOf(ageAt(cut, at(9_499), GUARD_MS, standing))).toBe("alive");
    expect(sideOf(ageAt(cut, at(11_701), 1_500, standing))).toBe("dead");
    // Nothing is cut while the clock stands, where a fraction is stated, nor from a round number.
    expect([cutFrom(9_000, false), cutFrom(9_500, true), cutFrom(3_600_000, true)]).toEqual([0, 0, 0]);
  });

  it("is alive only before the guard of what its service may have dated back to the beginning of its second", () => {
    const issued = at(1_769, 1_800);
    const late = { ...token, issued };
    // Dated 1,000, it ends at 11,000.
    expect(sideOf(ageAt(late, at(10_499), GUARD_MS, running))).toBe("alive");
    expect(sideOf(ageAt(late, at(10_500), GUARD_MS, running))).toBeUndefined();
    expect(sideOf(ageAt(late, at(12_300), GUARD_MS, running))).toBe("dead");
    expect(datedBackFrom(issued, { ...running, isTold: false })).toBe(1_000);
    // Credentials are issued at the beginning of a second where the clock stands; in real time the guard covers one.
    expect(datedBackFrom(issued, standing)).toBe(0);
    expect(datedBackFrom(issued, { ...running, kind: "real" })).toBe(0);
  });

  it("depends on a guard of at most a quarter of the lifetime", () => {
    expect(guardFor(1_000, 1_500)).toBe(250);
    expect(guardFor(60_000, 1_500)).toBe(1_500);
  });

  it("has a distance from the end that is measured from the outermost possible age", () => {
    const age = { leastMs: 9_000, greatestMs: 9_400, lifetimeMs: 10_000, guardMs: GUARD_MS };
    expect(distanceFromEnd("alive", age)).toBe(1_000);
    expect(distanceFromEnd("dead", { ...age, leastMs: 10_600, greatestMs: 10_900 })).toBe(900);
  });
});

describe("the judgement of a probe", () => {
  const probed = (leastMs: number, greatestMs: number, works: boolean) =>
    judgeProbe("token", { leastMs, greatestMs, works, lifetimeMs: 10_000, guardMs: GUARD_MS });

  it.each([
    [9_000, 9_499, true, "passed"],
    [9_000, 9_499, false, "failed"],
    [9_000, 9_500, false, "discarded"],
    [9_000, 9_500, true, "discarded"],
    [10_499, 10_600, true, "discarded"],
    [10_500, 10_600, true, "failed"],
    [10_500, 10_600, false, "passed"],
  ])("at an age of %d to %d ms, works: %s, is %s", (leastMs, greatestMs, works, kind) => {
    expect(probed(leastMs, greatestMs, works).kind).toBe(kind);
  });

  it("states what was promised, and the age that is certain", () => {
    expect(probed(9_000, 9_400, false)).toEqual({
      kind: "failed",
      expected: "the token works for 10 s after issue",
      actual: "refused at an age of at most 9.4 s",
    });
    expect(probed(11_000, 11_400, true)).toEqual({
      kind: "failed",
      expected: "the token is refused 10 s after issue",
      actual: "accepted at an age of at least 11 s",
    });
  });
});
