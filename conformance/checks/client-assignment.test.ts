import { describe, expect, it } from "vitest";
import { assignedClient, forBoth } from "./client-assignment.ts";

const places = Array.from({ length: 64 }, (_, place) => place);

describe("the assignment of cases to two clients", () => {
  it.each([2, 4, 8, 16])(
    "gives each value to both clients in a list that repeats every %i places",
    (period) => {
      for (let first = 0; first < period; first += 1) {
        const clientIndexes = places
          .filter((place) => place % period === first)
          .map((place) => assignedClient(place, 3));
        expect(new Set(clientIndexes)).toEqual(new Set([0, 1]));
      }
    },
  );

  it("gives each value of a list for both clients to both", () => {
    const values = places.map((place) => `value ${place}`);
    const got = new Map<string, Set<number>>();
    for (const [place, value] of forBoth(values).entries())
      got.set(value, (got.get(value) ?? new Set()).add(assignedClient(place, 5)));
    for (const clientIndexes of got.values()) expect(clientIndexes).toEqual(new Set([0, 1]));
  });
});
