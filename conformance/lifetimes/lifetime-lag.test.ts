import type { TimeInterval } from "../judging/interval.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Checkpoint } from "../world/durable-steps.ts";
import { judgeLifetime, type JudgedLifetime } from "./lifetime.ts";
import { createRun } from "../checks/create-run.ts";
import type { Clock } from "../world/clock.ts";

import { virtualClock } from "../world/time/virtual-clock.ts";
import type { World } from "../world/world.ts";
import { MINUTE_MS } from "../contract/duration.ts";

const LIFETIME_MS = 600_000;

interface Setting {
  /** How old a credential may become. */
  readonly livesMs?: number;
  /** By how much more than was asked for time moves at the nth time. */
  readonly overshootMs?: (nth: number) => number;
  /** How much time a request takes. */
  readonly requestMs?: number;
  /** Whether the time is not told, so that all that is known of it is what it was moved by, and this much more at most. */
  readonly guessedMs?: number;
  /** Whether the rule takes the time for the real one, which no journey of such a length is made twice in. */
  readonly isReal?: true;
  readonly expiring?: Partial<JudgedLifetime<number>>;
  /** By how much each reading of the clock finds it further on. */
  readonly flowMs?: number;
  readonly tolerances?: Partial<World["tolerances"]>;
  /** Age of the credentials that an earlier run left, which this one goes on with. */
  readonly continuedAtMs?: number;
}

/** Judges a lifetime at a target that exists in this test only, where time overshoots as it does on a machine with too much to do. */
const judge = async (setting: Setting = {}) => {
  const { livesMs = LIFETIME_MS, overshootMs = () => 0, requestMs = 0, guessedMs } = setting;
  let nowMs = 1_000_000;
  let knownMs = 0;
  let moves = 0;
  let probes = 0;
  let issues = 0;
  const { continuedAtMs } = setting;
  const checkpoint: Checkpoint | undefined =
    continuedAtMs === undefined ? undefined : leftBehind(nowMs - continuedAtMs);
  const now = (): Promise<TimeInterval> => {
    nowMs += setting.flowMs ?? 0;
    return Promise.resolve(
      guessedMs === undefined
        ? { earliestMs: nowMs, latestMs: nowMs }
        : { earliestMs: knownMs, latestMs: knownMs + guessedMs },
    );
  };
  const clocks = virtualClock({
    now,
    advance: (durationMs) => {
      moves += 1;
      nowMs += durationMs + overshootMs(moves);
      knownMs += durationMs;
      return now();
    },
    inFlight: () => 0,
    isReckoned: guessedMs !== undefined,
  });
  const rule = clocks.join();
  const worldWith = (clock: Clock): World =>
    ({
      clock: setting.isReal === true ? { ...clock, kind: "real" } : clock,
      checkpoint,
      tolerances: { lifetimeGuardMs: 500, ...setting.tolerances },
    }) as unknown as World;
  const run = createRun({
    rule: "code.lifetime",
    effort: "quick",
    seed: 1,
    signal: new AbortController().signal,
    shrinkBudgetMs: 0,
    keep: () => {},
    casesAtATime: 6,
    recover: () => Promise.resolve(true),
    inWorld: async (scope, action) => {
      const clock = rule.branch();
      try {
        return await action({
          ...worldWith(clock),
          evidence: {
            addPushes: () => {},
            ignoreLoss: () => {},
            onCommit: (commit) => void scope.findings.push(commit),
          },
        });
      } finally {
        clock.leave();
      }
    },
  });
  const verdict = await judgeLifetime(worldWith(rule), run, {
    name: "code",
    lifetimeMs: () => LIFETIME_MS,
    issue: () => {
      issues += 1;
      return Promise.resolve(nowMs);
    },
    alive: (_, issuedMs) => {
      probes += 1;
      nowMs += requestMs;
      return Promise.resolve(nowMs - issuedMs < livesMs);
    },
    ...setting.expiring,
  });
  return { verdict, probes, issues };
};

/** What a run left behind that had issued a credential for each of its probes at this moment. */
const leftBehind = (issuedMs: number): Checkpoint => {
  const taken = new Set<string>();
  const at = { earliestMs: issuedMs, latestMs: issuedMs + 5 };
  return {
    take: (id) => {
      const steps = taken.has(id) ? undefined : [{ name: "issue", value: issuedMs, at }];
      taken.add(id);
      return steps;
    },
    keep: () => {},
    drop: () => {},
  };
};

/** Late by this much at every wake-up. */
const always = (lateMs: number) => () => lateMs;

describe("on a machine that is late by minutes at every wake-up", () => {
  it("a code that lives a minute longer does not pass, and one that lives as long as it should does not either", async () => {
    for (const livesMs of [LIFETIME_MS, LIFETIME_MS + MINUTE_MS]) {
      const { verdict } = await judge({ livesMs, overshootMs: always(2 * MINUTE_MS) });
      expect(verdict).toMatchObject({
        kind: "inconclusive",
        reason: expect.stringMatching(/too slow.*the code/) as string,
        settle: expect.stringContaining("lifetimeResolutionMs") as string,
      });
    }
  });

  it("a code that lives for an hour still is a breach", async () => {
    const { verdict } = await judge({ livesMs: 60 * MINUTE_MS, overshootMs: always(2 * MINUTE_MS) });
    expect(verdict).toMatchObject({ kind: "failed" });
  });

  it("the dead side alone does not pass either", async () => {
    const { verdict } = await judge({ overshootMs: always(2 * MINUTE_MS), expiring: { sides: "dead" } });
    expect(verdict).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("first seen refused up to 2 min") as string,
    });
  });
});

describe("on a machine that is late now and then", () => {
  // Late as long as the first journeys last, a few moves each, and in time after that.
  const atFirst = (nth: number): number => (nth <= 5 ? 2_000 : 0);

  it("an exact lifetime passes by probes that were made again", async () => {
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

  it("a lifetime that is a second too long, which late probes alone would not see, is a breach", async () => {
    const { verdict } = await judge({ livesMs: LIFETIME_MS + 1_001, overshootMs: atFirst });
    expect(verdict).toMatchObject({ kind: "failed" });
  });
});

describe("a probe that itself takes long", () => {
  it("leaves more room with each try", async () => {
    expect((await judge({ requestMs: 300 })).verdict).toMatchObject({ kind: "passed" });
  });

  it("makes the verdict coarser, which says so, and inconclusive where it is coarser than it may be", async () => {
    const { verdict } = await judge({ requestMs: 1_500 });
    expect(verdict).toMatchObject({ kind: "passed", facts: { code: { resolutionMs: 2_550 } } });
    const strict = { tolerances: { lifetimeResolutionMs: 2_000 } };
    expect((await judge({ requestMs: 1_500, ...strict })).verdict).toMatchObject({ kind: "inconclusive" });
    expect((await judge({ requestMs: 7_000 })).verdict).toMatchObject({ kind: "inconclusive" });
  });
});

describe("a clock that flows while a hook takes up to 3 s to move it", () => {
  /** Hooks of 0 to 3 s, answers of 0 to 200 ms; each reading of the clock takes 15 ms. */
  const slow = (seed: number) => {
    const random = fc.sample(fc.integer({ min: 0, max: 3_000 }), { seed, numRuns: 500 });
    return { overshootMs: (nth: number) => random[nth % random.length] ?? 0, requestMs: 60, flowMs: 15 };
  };
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);

  it.each(seeds)(
    "an exact lifetime passes, and the verdict says how coarsely it was judged (seed %i)",
    async (seed) => {
      const { verdict } = await judge(slow(seed));
      expect(verdict).toMatchObject({ kind: "passed" });
      if (verdict.kind !== "passed") throw new Error("it did not pass");
      const { acceptedUpToMs, refusedFromMs, resolutionMs } = (verdict.facts ?? {})["code"] as Record<
        string,
        number
      >;
      expect(resolutionMs).toBe(
        Math.max(LIFETIME_MS - (acceptedUpToMs ?? 0), (refusedFromMs ?? 0) - LIFETIME_MS),
      );
      expect(resolutionMs).toBeLessThan(5_000);
    },
  );

  it.each(seeds)("one that is 5 s too short or too long is a breach (seed %i)", async (seed) => {
    for (const byMs of [-5_000, 5_000])
      expect((await judge({ ...slow(seed), livesMs: LIFETIME_MS + byMs })).verdict).toMatchObject({
        kind: "failed",
      });
  });

  it("is judged no more coarsely than the profile allows", async () => {
    const tolerances = { lifetimeResolutionMs: 700 };
    expect((await judge({ ...slow(1), tolerances })).verdict).toMatchObject({
      kind: "inconclusive",
      settle: expect.stringContaining("hooks.clock.advance") as string,
    });
  });
});

describe("where a journey cannot be made twice", () => {
  it("several probes at the end are made in one, each with more room than the one before", async () => {
    const { verdict, probes } = await judge({ isReal: true, requestMs: 100, expiring: { perSide: 2 } });
    expect(verdict).toMatchObject({ kind: "passed" });
    // Five before the end, three after it, and one elsewhere on each side.
    expect(probes).toBe(10);
  });
});

describe("where the time is not told", () => {
  it("an uncertainty of seconds may pass, one of minutes may not, and says what would settle it", async () => {
    expect((await judge({ guessedMs: 4_000 })).verdict).toMatchObject({ kind: "passed" });
    expect((await judge({ guessedMs: MINUTE_MS })).verdict).toMatchObject({
      kind: "inconclusive",
      settle: expect.stringContaining("hooks.clock.now") as string,
    });
  });
});

describe("a run that goes on with what an earlier one was waiting with", () => {
  const halfway = { isReal: true, continuedAtMs: LIFETIME_MS / 2 } as const;

  it("issues nothing where all of it is still ahead, and judges what was issued", async () => {
    const { verdict, issues, probes } = await judge({ ...halfway, expiring: { perSide: 1 } });
    expect(verdict).toMatchObject({ kind: "passed" });
    const patient = await judge({ isReal: true, expiring: { perSide: 1 } });
    expect([issues, probes]).toEqual([0, patient.probes]);
    for (const livesMs of [LIFETIME_MS - MINUTE_MS, LIFETIME_MS + MINUTE_MS])
      expect((await judge({ ...halfway, livesMs })).verdict).toMatchObject({
        kind: "failed",
        breach: { actual: expect.stringContaining("issued by the run that this one continues") as string },
      });
  });

  it("makes again what fell due while no run was there, and passes by that alone", async () => {
    const late = {
      isReal: true,
      continuedAtMs: LIFETIME_MS + 2 * MINUTE_MS,
      expiring: { perSide: 1 },
    } as const;
    const { verdict, issues } = await judge(late);
    expect(verdict).toMatchObject({ kind: "passed" });
    const patient = await judge({ isReal: true, expiring: { perSide: 1 } });
    expect(verdict).toEqual(patient.verdict);
    expect(issues).toBeGreaterThanOrEqual(6);
    expect(issues).toBeLessThanOrEqual(patient.issues);
  });

  it("takes down what it sees late: a life without an end is a breach at once", async () => {
    const { verdict, issues } = await judge({
      isReal: true,
      livesMs: Infinity,
      continuedAtMs: 10 * LIFETIME_MS,
    });
    expect(verdict).toMatchObject({ kind: "failed" });
    expect(issues).toBe(0);
  });

  it("makes again what was to be used right before its end, and was not", async () => {
    const ages: number[] = [];
    const use: JudgedLifetime<number>["use"] = async (world, issuedMs) => {
      const { earliestMs } = await world.clock.now();
      ages.push(earliestMs - issuedMs);
    };
    const dead = { isReal: true, expiring: { use, sides: "dead", perSide: 1 } } as const;
    const { verdict, issues } = await judge({ ...dead, continuedAtMs: LIFETIME_MS + MINUTE_MS });
    expect(verdict).toMatchObject({ kind: "passed" });
    // Each of them used three times and once more, and never after its end.
    expect(issues).toBe((await judge(dead)).issues);
    expect(ages).toHaveLength(2 * 4 * issues);
    expect(Math.max(...ages)).toBeLessThan(LIFETIME_MS);
  });
});
