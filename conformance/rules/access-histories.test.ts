import { describe, expect, it } from "vitest";
import type { Run } from "../checks/rule.ts";
import type { World } from "../world/world.ts";
import { refreshHistories } from "./access-histories.ts";
import { HOUR_MS, DAY_MS } from "../contract/duration.ts";

interface Setting {
  readonly kind: "virtual" | "real";
  readonly accessLifetimeMs: number;
  readonly refreshTokenLifetimeMs: number;
  readonly maxWaitMs?: number;
  readonly seed?: number;
}

const histories = ({ kind, maxWaitMs = Infinity, seed = 1, ...lives }: Setting) =>
  refreshHistories(
    {
      prepared: { accessLifetimeMs: lives.accessLifetimeMs },
      limits: { refreshTokenLifetimeMs: lives.refreshTokenLifetimeMs, codeLifetimeMs: 600_000 },
      tolerances: { lifetimeGuardMs: 500 },
      clock: { kind, canWait: (durationMs: number) => durationMs <= maxWaitMs },
    } as unknown as World,
    { seed, effort: "standard" } as Run,
  );

const total = (gaps: readonly number[]): number => gaps.reduce((sum, gapMs) => sum + gapMs, 0);
const document = { accessLifetimeMs: 2 * HOUR_MS, refreshTokenLifetimeMs: 30 * DAY_MS };

describe("histories of refreshes", () => {
  it.each([1, 2, 3, 4, 5])("contain every kind of gap on a virtual clock (seed %i)", (seed) => {
    const all = histories({ kind: "virtual", ...document, seed });
    const lasts = all.map((gaps) => gaps.at(-1) ?? -1);
    expect(all.some((gaps) => gaps.length === 12)).toBe(true);
    expect(all.some((gaps) => gaps.length > 1 && (gaps.at(-1) ?? 0) === 30_000)).toBe(true);
    expect(lasts.some((lastMs) => lastMs > document.accessLifetimeMs && lastMs < DAY_MS)).toBe(true);
    expect(lasts.some((lastMs) => lastMs >= 20 * DAY_MS)).toBe(true);
    for (const gaps of all) expect(total(gaps)).toBeLessThan(document.refreshTokenLifetimeMs);
  });

  it("end while the refreshToken is valid, however short its lifetime", () => {
    for (const refreshTokenLifetimeMs of [1_000, 60_000, 3 * HOUR_MS])
      for (const kind of ["virtual", "real"] as const)
        for (const gaps of histories({ kind, accessLifetimeMs: 2 * HOUR_MS, refreshTokenLifetimeMs }))
          expect(total(gaps)).toBeLessThan(refreshTokenLifetimeMs);
  });

  it("take at most half of the judged lifetime in real time", () => {
    const all = histories({ kind: "real", ...document, maxWaitMs: 5 * HOUR_MS });
    expect(all.length).toBeGreaterThan(2);
    for (const gaps of all) expect(total(gaps)).toBeLessThanOrEqual(HOUR_MS);
  });

  it("wait for an access token to expire in real time only if the run may wait for the refreshToken to expire", () => {
    const short = { accessLifetimeMs: 2_000, refreshTokenLifetimeMs: 15_000 };
    const late = (maxWaitMs: number): boolean =>
      histories({ kind: "real", ...short, maxWaitMs }).some((gaps) => total(gaps) > short.accessLifetimeMs);
    expect(late(60_000)).toBe(true);
    expect(late(10_000)).toBe(false);
  });
});
