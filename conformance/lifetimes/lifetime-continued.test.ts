import { describe, expect, it } from "vitest";
import type { JudgedLifetime } from "./lifetime.ts";
import { MINUTE_MS } from "../contract/duration.ts";
import { LIFETIME_MS, judge } from "./testing/late-target.ts";

describe("a run that continues with the credentials of an earlier one", () => {
  const halfway = { isReal: true, continuedAtMs: LIFETIME_MS / 2 } as const;

  it("issues no credential if all probes are still due, and judges the existing ones", async () => {
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

  it("repeats probes that fell due between the runs, and gives the verdict of an uninterrupted run", async () => {
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

  it("fails without issuing anything if a credential still works long after its lifetime", async () => {
    const { verdict, issues } = await judge({
      isReal: true,
      livesMs: Infinity,
      continuedAtMs: 10 * LIFETIME_MS,
    });
    expect(verdict).toMatchObject({ kind: "failed" });
    expect(issues).toBe(0);
  });

  it("repeats cases whose last use before the end of the lifetime was missed", async () => {
    const ages: number[] = [];
    const use: JudgedLifetime<number>["use"] = async (world, issuedMs) => {
      const { earliestMs } = await world.clock.now();
      ages.push(earliestMs - issuedMs);
    };
    const dead = { isReal: true, expiring: { use, sides: "dead", perSide: 1 } } as const;
    const { verdict, issues } = await judge({ ...dead, continuedAtMs: LIFETIME_MS + MINUTE_MS });
    expect(verdict).toMatchObject({ kind: "passed" });
    // Each is used three times and once more, and never after its end.
    expect(issues).toBe((await judge(dead)).issues);
    expect(ages).toHaveLength(2 * 4 * issues);
    expect(Math.max(...ages)).toBeLessThan(LIFETIME_MS);
  });
});
