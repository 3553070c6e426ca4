import { describe, expect, it } from "vitest";
import { assignedClient, forBoth } from "./client-assignment.ts";

const places = Array.from({ length: 64 }, (_, place) => place);

describe("cases dealt out to two clients", () => {
  it.each([0, 1, -7])("gives each client half of them (seed %i)", (seed) => {
    expect(places.filter((place) => assignedClient(place, seed) === 1)).toHaveLength(32);
  });

  it.each([2, 4, 8, 16])(
    "does not fall in step with a list that repeats itself every %i places",
    (period) => {
      for (let first = 0; first < period; first += 1) {
        const clientIndexes = places
          .filter((place) => place % period === first)
          .map((place) => assignedClient(place, 3));
        expect(new Set(clientIndexes)).toEqual(new Set([0, 1]));
      }
    },
  );

  it("begins with the other client for another seed, so that two runs come to every pair", () => {
    for (const place of places) expect(assignedClient(place, 1)).toBe(1 - assignedClient(place, 2));
  });

  it("gives both clients each value of a list that is meant for both", () => {
    const values = places.map((place) => `value ${place}`);
    const got = new Map<string, Set<number>>();
    for (const [place, value] of forBoth(values).entries())
      got.set(value, (got.get(value) ?? new Set()).add(assignedClient(place, 5)));
    for (const clientIndexes of got.values()) expect(clientIndexes).toEqual(new Set([0, 1]));
  });
});
