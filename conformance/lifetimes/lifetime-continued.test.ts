import { describe, expect, it } from "vitest";
import type { JudgedLifetime } from "./lifetime.ts";
import { MINUTE_MS } from "../contract/duration.ts";
import { LIFETIME_MS, judge } from "./testing/late-target.ts";

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
