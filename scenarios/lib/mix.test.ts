import { describe, expect, it } from "vitest";
import {
  drawKind,
  drawThinkTimeMs,
  meanThinkTimeMs,
  thinkTime,
  tokenKinds,
  traits,
  visitKinds,
  weighed,
  randomFrom,
  stateFrom,
} from "./mix.ts";

it("a weight in the profile replaces the default of that kind only", () => {
  expect(weighed(visitKinds, { refresh: 0 })).toEqual({ ...visitKinds, refresh: { weight: 0 } });
});

describe("the mix", () => {
  it("draws kinds by their weights", () => {
    const random = randomFrom("kinds");
    const drawn = Array.from({ length: 20_000 }, () => drawKind(tokenKinds, random));
    const weights = Object.values(tokenKinds).reduce((sum, { weight }) => sum + weight, 0);
    for (const [kind, { weight }] of Object.entries(tokenKinds)) {
      const share = drawn.filter((one) => one === kind).length / drawn.length;
      expect(Math.abs(share - weight / weights)).toBeLessThan(0.015);
    }
    const requests = drawn.reduce((sum, kind) => sum + tokenKinds[kind].requests, 0) / drawn.length;
    expect(requests).toBeCloseTo(traits.token.requestsPerIteration, 1);
  });

  it("draws think times with the stated mean and maximum", () => {
    const random = randomFrom("pauses");
    const pauses = Array.from({ length: 20_000 }, () => drawThinkTimeMs(random));
    const mean = pauses.reduce((sum, pause) => sum + pause, 0) / pauses.length;
    expect(Math.abs(mean / meanThinkTimeMs - 1)).toBeLessThan(0.05);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(thinkTime.longestMs);
    const shorter = pauses.filter((pause) => pause < thinkTime.medianMs).length;
    expect(Math.abs(shorter / pauses.length - 0.5)).toBeLessThan(0.02);
  });
});

describe("random choices", () => {
  it("are the same for the same key, and different for another", () => {
    const draw = (key: string): readonly unknown[] => {
      const random = randomFrom(key);
      return [random.next(), random.below(1_000_000), random.letters(12), random.uuid()];
    };
    expect(draw("1/7")).toEqual(draw("1/7"));
    expect(draw("1/7")).not.toEqual(draw("1/8"));
    expect(draw("1/71")[3]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("give every iteration an account of its own", () => {
    const accounts = Array.from({ length: 20_000 }, (_, iteration) => randomFrom(`key/${iteration}`).uuid());
    expect(new Set(accounts).size).toBe(accounts.length);
  });

  it("make allowed states, all of them different", () => {
    const states = Array.from({ length: 5_000 }, (_, iteration) =>
      stateFrom(randomFrom(`s/${iteration}`), `${iteration + 1}01`, 128),
    );
    expect(states.filter((state) => !/^[a-zA-Z0-9]{1,128}$/.test(state))).toEqual([]);
    expect(new Set(states).size).toBe(states.length);
    expect(states.some((state) => state.length === 128)).toBe(true);
    expect(states.some((state) => /^0\d+$/.test(state))).toBe(true);
    expect(stateFrom(randomFrom("x"), "1201", 8).length).toBeLessThanOrEqual(8);
  });
});
