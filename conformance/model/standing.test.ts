import { describe, expect, test } from "vitest";
import { guardFor, standingIn } from "./standing.ts";

const at = (earliestMs: number, latestMs = earliestMs): { earliestMs: number; latestMs: number } => ({
  earliestMs,
  latestMs,
});

describe("standing", () => {
  const token = { issued: at(1_000, 1_200), lifetimeMs: 10_000 };

  test("is live only while the greatest possible age is under the lifetime less the guard", () => {
    expect(standingIn(token, at(10_499), 500)).toBe("live");
    expect(standingIn(token, at(10_500), 500)).toBe("unknown");
    expect(standingIn(token, at(9_000, 10_500), 500)).toBe("unknown");
  });

  test("is dead only once the least possible age is over the lifetime and the guard", () => {
    expect(standingIn(token, at(11_699), 500)).toBe("unknown");
    expect(standingIn(token, at(11_700), 500)).toBe("dead");
    expect(standingIn(token, at(11_600, 90_000), 500)).toBe("unknown");
  });

  test("is unknown where the lifetime is none", () => {
    for (const lifetimeMs of [Number.NaN, 0, -1, Infinity])
      expect(standingIn({ issued: at(0), lifetimeMs }, at(5), 500)).toBe("unknown");
  });

  test("leaves something of a short life outside the guard", () => {
    expect(guardFor(1_000, 1_500)).toBe(250);
    expect(guardFor(60_000, 1_500)).toBe(1_500);
  });
});
