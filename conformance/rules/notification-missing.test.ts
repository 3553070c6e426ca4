import { describe, expect, it } from "vitest";
import { earlierOf, missingText, shortOf, type Certain } from "./notification-missing.ts";
import type { Listing } from "./shared/lists.ts";

const listing = (exchange: number, ids: readonly string[], total: number): Listing => ({
  answer: { exchange, status: 200, headers: [], text: "", json: {} },
  served: true,
  items: [],
  ids,
  total,
  said: `total ${total}`,
});

const certain = (count: number, wasAwaited: boolean): Certain => ({
  world: { clock: { kind: "real" }, tolerances: { visibilityMs: 30_000 } } as unknown as Certain["world"],
  before: 36,
  first: listing(1, ["a"], 36),
  settled: { count, ids: new Set(), wasAwaited },
});

describe("a list that holds less than it must is explained", () => {
  const reads = [listing(2, ["a"], 36), listing(3, ["a", "b"], 37), listing(4, ["c"], 38)];

  it("by the first list, as long as nothing was waited for", () => {
    const history = certain(36, false);
    const short = shortOf(history, 0, 36);
    expect(missingText(history, short, 36)).toBe("; before anything was created, its total was 36");
    expect(earlierOf(history, short, reads, [])).toEqual([1]);
  });

  it("by the time that it was given, once that was waited for", () => {
    const history = certain(38, true);
    const short = shortOf(history, 37, 38);
    expect(missingText(history, short, 38)).toContain("everything had to be listed within");
    expect(earlierOf(history, short, reads, ["a"])).toEqual([]);
  });

  it("by a few earlier lists that showed what is missing", () => {
    const history = certain(36, false);
    const short = shortOf(history, 37, 38);
    expect(missingText(history, short, 38)).toBe("; earlier lists had shown all 38");
    expect(earlierOf(history, short, reads, ["a", "b", "c"])).toEqual([3, 4]);
  });
});
