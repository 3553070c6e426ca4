import { describe, expect, it } from "vitest";
import type { Verdict } from "../../contract/verdict.ts";
import type { Probe } from "./probe.ts";
import {
  bracketFacts,
  coarsestMs,
  isCloseEnough,
  roomMs,
  roomSteps,
  unlessTooCoarse,
  type Delay,
  type Precision,
} from "./resolution.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LIFE_MS = 10 * MINUTE_MS;

const precision: Precision = { lifetimeMs: LIFE_MS, guardMs: 500, resolutionMs: undefined, isTold: true };

const probe = (leastMs: number, works: boolean, widthMs = 100): Probe => ({
  leastMs,
  greatestMs: leastMs + widthMs,
  lifetimeMs: LIFE_MS,
  guardMs: 500,
  works,
});

describe("the coarsest resolution that may pass", () => {
  it.each([
    ["1 % of ten minutes", {}, 6_000],
    ["at most a minute, for thirty days", { lifetimeMs: 30 * DAY_MS }, MINUTE_MS],
    ["twice the guard, for a lifetime of 8 s", { lifetimeMs: 8_000, guardMs: 400 }, 800],
    ["the value in the profile, even if finer", { resolutionMs: 700 }, 700],
    ["a twentieth plus the guard, if the target does not tell its time", { isTold: false }, 30_500],
    [
      "an hour of thirty days if the target does not tell its time",
      { lifetimeMs: 30 * DAY_MS, isTold: false },
      3_600_500,
    ],
  ])("is %s", (_, over, expected) => {
    expect(coarsestMs({ ...precision, ...over })).toBe(expected);
  });
});

describe("the room that a probe leaves before the guard", () => {
  const rooms = (delaysMs: readonly number[] | undefined, over: Partial<Precision> = {}): readonly number[] =>
    Array.from({ length: 5 }, (_, nth) =>
      roomMs(
        { ...precision, ...over },
        nth,
        delaysMs?.map((wakeMs) => ({ wakeMs, answerMs: 0 })),
      ),
    );

  it("is as good as none where time stands, and grows with each play up to the coarsest resolution", () => {
    expect(rooms(undefined)).toEqual([1, 2, 4, 8, 16]);
    expect(rooms([])).toEqual([75, 200, 350, 1_000, 4_950]);
    expect(roomSteps).toBe(5);
  });

  it("covers nine in ten of the latest delays, then all of them, then more", () => {
    const tenths = Array.from({ length: 10 }, (_, nth) => (nth + 1) * 100);
    expect(rooms(tenths)).toEqual([900, 1_000, 1_250, 1_600, 1_600]);
    expect(rooms([2_000, ...Array.from({ length: 50 }, () => 100)])).toEqual([100, 100, 125, 160, 160]);
    expect(rooms([0, 10])).toEqual([75, 75, 75, 75, 75]);
  });

  it("leaves less of it to a credential that was dated back, whose guard comes earlier", () => {
    expect(new Set(rooms([60_000], { datedBackMs: 800 }))).toEqual(new Set([4_230]));
  });

  it("never exceeds what the coarsest resolution and a quarter of the lifetime allow", () => {
    expect(Math.max(...rooms([60_000], { resolutionMs: 900 }))).toBe(360);
    expect(Math.max(...rooms([60_000], { lifetimeMs: 4_000, resolutionMs: 90_000 }))).toBe(1_000);
    expect(Math.max(...rooms([60_000], { resolutionMs: 400 }))).toBe(0);
  });
});

describe("isCloseEnough", () => {
  it.each([
    ["accepts a probe at twice the guard", "alive", LIFE_MS - 1_000, 0, true],
    ["rejects one a millisecond further off", "alive", LIFE_MS - 1_001, 0, false],
    ["accepts one that is played again within its room", "alive", LIFE_MS - 2_600, 1, true],
    ["accepts one after the end within its room", "dead", LIFE_MS + 2_500, 1, true],
  ] as const)("%s", (_, side, leastMs, nth, expected) => {
    const delays = [{ wakeMs: 2_000, answerMs: 0 }];
    expect(isCloseEnough(side, probe(leastMs, side === "alive"), precision, nth, delays)).toBe(expected);
  });
});

describe("the verdict over all probes", () => {
  const passed: Verdict = { kind: "passed", cases: 4 };
  const judged = (
    probes: readonly Probe[],
    over: Partial<Precision> = {},
    delays: readonly Delay[] = [{ wakeMs: 3_000, answerMs: 20 }],
  ) =>
    unlessTooCoarse(passed, "code", ["alive", "dead"], probes, delays, (lifetimeMs) => ({
      ...precision,
      ...over,
      lifetimeMs,
    }));
  const near = [probe(LIFE_MS - 2_000, true), probe(LIFE_MS + 2_000, false)];

  it("is unchanged if both sides were probed close enough to the end", () => {
    expect(judged(near)).toBe(passed);
    expect(judged([...near, probe(LIFE_MS / 2, true)])).toBe(passed);
  });

  it.each([
    [LIFE_MS - 6_000, LIFE_MS + 5_900, "passed"],
    [LIFE_MS - 6_001, LIFE_MS + 5_900, "inconclusive"],
    [LIFE_MS - 6_000, LIFE_MS + 5_901, "inconclusive"],
  ])("with probes alive at %d ms and dead at %d ms is %s", (alive, dead, kind) => {
    expect(judged([probe(alive, true), probe(dead, false)]).kind).toBe(kind);
  });

  it("names the side that was probed too far from the end, and what would help", () => {
    expect(judged([probe(LIFE_MS - 2_000, true), probe(LIFE_MS + 2 * MINUTE_MS, false)])).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("first seen refused up to 2 min 0.1 s after its end") as string,
      settle:
        "a faster hooks.clock.advance or a less busy machine (cases resumed up to 3 s late), or a larger tolerances.lifetimeResolutionMs",
    });
    expect(judged([], {}, [{ wakeMs: 10, answerMs: 4_000 }])).toMatchObject({
      settle:
        "a faster connection to the target (answers took up to 4 s), or a larger tolerances.lifetimeResolutionMs",
    });
    expect(judged(near.slice(1))).toMatchObject({
      reason: expect.stringContaining("no decisive probe of the code was made before its end") as string,
    });
    expect(judged(near.slice(1), { isTold: false })).toMatchObject({
      settle: expect.stringContaining("hooks.clock.now") as string,
    });
  });

  it("is unchanged if it was not passed", () => {
    const undecided: Verdict = { ...passed, kind: "inconclusive", reason: "other", settle: "other" };
    expect(unlessTooCoarse(undecided, "code", ["dead"], [], [], () => precision)).toBe(undecided);
  });

  it("has the bracket as facts, and the resolution if both sides agree with the lifetime", () => {
    const all = [...near, probe(LIFE_MS - 9_000, true), probe(LIFE_MS + 9_000, false)];
    const judgedBy = { lifetimeMs: LIFE_MS, guardMs: 500 };
    const bracket = { ...judgedBy, acceptedUpToMs: LIFE_MS - 2_000, refusedFromMs: LIFE_MS + 2_100 };
    const both = ["alive", "dead"] as const;
    expect(bracketFacts(precision, both, all)).toEqual({ ...bracket, resolutionMs: 2_100 });
    expect(bracketFacts(precision, both, [...all, probe(LIFE_MS + 1_000, true)])).toEqual({
      ...bracket,
      acceptedUpToMs: LIFE_MS + 1_000,
    });
    const { refusedFromMs: _, ...accepted } = bracket;
    expect(bracketFacts(precision, ["dead"], near.slice(0, 1))).toEqual(accepted);
  });
});
