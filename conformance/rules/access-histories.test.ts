import { expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "../contract/duration.ts";
import type { World } from "../world/world.ts";
import { refreshHistories, total } from "./access-histories.ts";

const histories = (kind: "virtual" | "real", refreshTokenLifetimeMs: number) =>
  refreshHistories({
    prepared: { accessLifetimeMs: 2 * HOUR_MS },
    limits: { refreshTokenLifetimeMs },
    tolerances: { lifetimeGuardMs: 500 },
    clock: { kind },
  } as unknown as World);

it("histories of refreshes end while the refreshToken is valid, however short its lifetime", () => {
  for (const lifetimeMs of [1_000, 60_000, 3 * HOUR_MS])
    for (const kind of ["virtual", "real"] as const)
      for (const gaps of histories(kind, lifetimeMs)) expect(total(gaps)).toBeLessThan(lifetimeMs);
});

it("histories of refreshes take at most half of the judged lifetime in real time", () => {
  const all = histories("real", 30 * DAY_MS);
  expect(all).toHaveLength(3);
  for (const gaps of all) expect(total(gaps)).toBeLessThanOrEqual(HOUR_MS);
});
