import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import { ControlFailed } from "../world/exchange.ts";
import type { JudgedLifetime } from "./lifetime.ts";
import { LIFETIME_MS, judge } from "./testing/late-target.ts";

/** The facts that a lifetime passed with. */
const passed = async (setting: Parameters<typeof judge>[0]): Promise<Readonly<Record<string, number>>> => {
  const { verdict } = await judge(setting);
  if (verdict.kind !== "passed") throw new Error(JSON.stringify(verdict));
  return (verdict.facts ?? {})["code"] as Record<string, number>;
};

describe.concurrent("a lifetime", () => {
  it.each([1, 2, 3])(
    "that is exact passes, with a bracket of less than a second on each side (seed %i)",
    async (seed) => {
      const { acceptedUpToMs = 0, refusedFromMs = 0 } = await passed({ seed });
      expect(acceptedUpToMs).toBeLessThan(LIFETIME_MS);
      expect(acceptedUpToMs).toBeGreaterThan(LIFETIME_MS - 1_000);
      expect(refusedFromMs).toBeGreaterThanOrEqual(LIFETIME_MS);
      expect(refusedFromMs).toBeLessThan(LIFETIME_MS + 1_000);
    },
  );

  it.each([
    ["a minute too short", LIFETIME_MS - MINUTE_MS, "refused at an age of at most"],
    ["zero", 0, "refused at an age of at most"],
    ["a minute too long", LIFETIME_MS + MINUTE_MS, "accepted at an age of at least"],
    ["endless", Infinity, "accepted at an age of at least"],
  ])("that is %s fails, on a frozen and on a flowing clock", async (_, livesMs, words) => {
    for (const flowMs of [0, 1])
      expect((await judge({ livesMs, flowMs })).verdict).toMatchObject({
        kind: "failed",
        breach: { part: "code", actual: expect.stringContaining(words) as string },
      });
  });

  const hole = (ageMs: number): boolean => ageMs < LIFETIME_MS && (ageMs < 1_000 || ageMs > 500_000);
  const revenant = (ageMs: number): boolean => ageMs < LIFETIME_MS || ageMs > LIFETIME_MS * 2;
  const guarded = { tolerances: { lifetimeGuardMs: 3_000 } };

  it.each<readonly [string, Verdict["kind"], Parameters<typeof judge>[0]]>([
    ["at a service that counts whole seconds", "passed", { countsMs: 1_000 }],
    ["at one that does both", "passed", { countsMs: 1_000, flowMs: 1 }],
    ["a second too short, in whole seconds", "failed", { countsMs: 1_000, livesMs: LIFETIME_MS - 1_000 }],
    ["a second too long, in whole seconds", "failed", { countsMs: 1_000, livesMs: LIFETIME_MS + 1_000 }],
    [
      "a minute too long if the clock is not read",
      "failed",
      { guessedMs: 9, livesMs: LIFETIME_MS + MINUTE_MS },
    ],
    ["too short inside the guard", "passed", { ...guarded, livesMs: LIFETIME_MS - 2_000 }],
    ["too long inside the guard", "passed", { ...guarded, livesMs: LIFETIME_MS + 2_000 }],
    ["too long outside the guard", "failed", { ...guarded, livesMs: LIFETIME_MS + 4_000 }],
    ["if a code stops working for a while", "failed", { isAlive: hole, expiring: { perSide: 12 } }],
    ["if a code works again after its end", "failed", { isAlive: revenant, expiring: { perSide: 16 } }],
    [
      "too short, on its dead side alone",
      "passed",
      { livesMs: LIFETIME_MS / 2, expiring: { sides: "dead" } },
    ],
    ["if no probe is decisive", "inconclusive", { expiring: { lifetimeOf: () => Number.NaN } }],
  ])("%s is %s", async (_, kind, setting) => {
    expect((await judge(setting)).verdict).toMatchObject({ kind });
  });

  it("of which nothing can be issued is inconclusive", async () => {
    const issue = () => Promise.reject(new ControlFailed("no code was given"));
    expect((await judge({ expiring: { issue } })).verdict).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("no code was given") as string,
    });
  });

  it("is probed with credentials used three times meanwhile, and on the dead side once more before the end", async () => {
    const uses = new Map<number, number>();
    const use: JudgedLifetime<number>["use"] = (_, code) => {
      uses.set(code, (uses.get(code) ?? 0) + 1);
      return Promise.resolve();
    };
    const { verdict } = await judge({ expiring: { use, perSide: 3 } });
    // One more on the dead side is probed a month later.
    expect(verdict).toMatchObject({ kind: "passed", cases: 7 });
    expect([...uses.values()].toSorted((a, b) => a - b)).toEqual([3, 3, 3, 4, 4, 4, 4]);
  });
});

describe.concurrent("on a machine that is late by minutes at every wake-up", () => {
  const tooSlow = {
    kind: "inconclusive",
    reason: expect.stringMatching(/too slow.*the code/) as string,
    settle: expect.stringContaining("lifetimeResolutionMs") as string,
  };
  const seenRefusedLate = {
    kind: "inconclusive",
    reason: expect.stringContaining("first seen refused up to 2 min") as string,
  };
  it.each<readonly [string, Parameters<typeof judge>[0], object]>([
    ["an exact lifetime is inconclusive", {}, tooSlow],
    ["a lifetime that is a minute too long is inconclusive", { livesMs: LIFETIME_MS + MINUTE_MS }, tooSlow],
    ["a lifetime of an hour instead of ten minutes fails", { livesMs: 60 * MINUTE_MS }, { kind: "failed" }],
    ["its dead side alone is inconclusive", { expiring: { sides: "dead" } }, seenRefusedLate],
  ])("%s", async (_, setting, expected) => {
    const { verdict } = await judge({ ...setting, overshootMs: () => 2 * MINUTE_MS });
    expect(verdict).toMatchObject(expected);
  });
});

describe.concurrent("on a machine that is late during the first waits", () => {
  const atFirst = (nth: number): number => (nth <= 2 ? 2_000 : 0);

  it("an exact lifetime passes after repeated probes", async () => {
    const { verdict, probes } = await judge({ overshootMs: atFirst });
    const patient = await judge();
    expect(patient.verdict).toMatchObject({ kind: "passed" });
    expect(verdict).toMatchObject({ kind: "passed" });
    expect(probes).toBeGreaterThan(patient.probes);
    if (verdict.kind !== "passed") throw new Error("it did not pass");
    const { acceptedUpToMs, refusedFromMs } = (verdict.facts ?? {})["code"] as Record<string, number>;
    expect(acceptedUpToMs).toBeGreaterThan(LIFETIME_MS - 1_001);
    expect(refusedFromMs).toBeLessThan(LIFETIME_MS + 1_001);
  });

  it("a lifetime that is a second too long fails, though late probes alone would not show it", async () => {
    const { verdict } = await judge({ livesMs: LIFETIME_MS + 1_001, overshootMs: atFirst });
    expect(verdict).toMatchObject({ kind: "failed" });
  });
});

describe.concurrent("a probe that itself takes long", () => {
  const coarser = { kind: "passed", facts: { code: { resolutionMs: 4_350 } } };
  it.each([
    ["passes by leaving a larger margin with each attempt", { requestMs: 300 }, { kind: "passed" }],
    ["makes the reported resolution coarser", { requestMs: 1_500 }, coarser],
    [
      "makes the verdict inconclusive if that is coarser than the profile allows",
      { requestMs: 1_500, tolerances: { lifetimeResolutionMs: 2_000 } },
      { kind: "inconclusive" },
    ],
    ["makes the verdict inconclusive if it takes too long", { requestMs: 7_000 }, { kind: "inconclusive" }],
  ])("%s", async (_, setting, expected) => {
    expect((await judge(setting)).verdict).toMatchObject(expected);
  });
});

describe.concurrent("a clock that flows while a hook takes up to 3 s to move it", () => {
  /** Hooks of 0 to 3 s, answers of 0 to 200 ms; each reading of the clock takes 15 ms. */
  const slow = (seed: number) => {
    const random = fc.sample(fc.integer({ min: 0, max: 3_000 }), { seed, numRuns: 500 });
    return { overshootMs: (nth: number) => random[nth % random.length] ?? 0, requestMs: 60, flowMs: 15 };
  };
  const seeds = [0, 1];

  it.each(seeds)("lets an exact lifetime pass, with the resolution reported (seed %i)", async (seed) => {
    const { acceptedUpToMs = 0, refusedFromMs = 0, resolutionMs } = await passed(slow(seed));
    expect(resolutionMs).toBe(Math.max(LIFETIME_MS - acceptedUpToMs, refusedFromMs - LIFETIME_MS));
    expect(resolutionMs).toBeLessThan(5_000);
  });

  it.each(seeds)("lets a lifetime that is 5 s too short or too long fail (seed %i)", async (seed) => {
    for (const byMs of [-5_000, 5_000])
      expect((await judge({ ...slow(seed), livesMs: LIFETIME_MS + byMs })).verdict).toMatchObject({
        kind: "failed",
      });
  });

  it("makes the verdict inconclusive if it cannot be as fine as the profile asks", async () => {
    const tolerances = { lifetimeResolutionMs: 700 };
    expect((await judge({ ...slow(2), tolerances })).verdict).toMatchObject({
      kind: "inconclusive",
      settle: expect.stringContaining("hooks.clock.advance") as string,
    });
  });
});

describe.concurrent("at a service that keeps whole seconds, a credential that a stall lets it issue late in one", () => {
  const stalled = { flowMs: 15, countsMs: 1_000, requestMs: 60 };

  it.each([200, 575])("keeps the lifetime (%i ms late)", async (issuedLateMs) => {
    const { acceptedUpToMs = 0, resolutionMs } = await passed({ ...stalled, issuedLateMs });
    expect(resolutionMs).toBeGreaterThanOrEqual(LIFETIME_MS - acceptedUpToMs);
    // The guard, what is left of the second, and the room for a slow try.
    expect(acceptedUpToMs).toBeGreaterThan(LIFETIME_MS - 500 - 1_000 - 1_000);
  });

  it.each([-2_000, 1_500])("breaks it if that is off by %i ms", async (byMs) => {
    const { verdict } = await judge({ ...stalled, issuedLateMs: 400, livesMs: LIFETIME_MS + byMs });
    expect(verdict).toMatchObject({ kind: "failed" });
  });
});

describe.concurrent("if a wait cannot be repeated", () => {
  it("several probes near the end share one wait, each with a larger margin than the previous one", async () => {
    const { verdict, probes } = await judge({ isReal: true, requestMs: 100, expiring: { perSide: 2 } });
    expect(verdict).toMatchObject({ kind: "passed" });
    // Five before the end, three after it, and one elsewhere on each side.
    expect(probes).toBe(10);
  });
});

describe.concurrent("if the target does not tell its time", () => {
  it("a lifetime passes with an uncertainty of 4 s; with one of a minute it is inconclusive and names the missing hook", async () => {
    expect((await judge({ guessedMs: 4_000 })).verdict).toMatchObject({ kind: "passed" });
    expect((await judge({ guessedMs: MINUTE_MS })).verdict).toMatchObject({
      kind: "inconclusive",
      settle: expect.stringContaining("hooks.clock.now") as string,
    });
  });
});
