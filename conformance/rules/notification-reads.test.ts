import { describe, expect, it } from "vitest";
import { whyMissing, type Certain } from "./notification-reads.ts";
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
    expect(whyMissing(certain(36, false), { got: 0, least: 36 }, reads, [])).toEqual({
      why: "; before anything was created, its total was 36",
      shown: [1],
    });
  });

  it("by the time that it was given, once that was waited for", () => {
    const { why, shown } = whyMissing(certain(38, true), { got: 37, least: 38 }, reads, ["a"]);
    expect(why).toContain("everything had to be listed within");
    expect(shown).toEqual([]);
  });

  it("by a few earlier lists that showed what is missing", () => {
    expect(whyMissing(certain(36, false), { got: 37, least: 38 }, reads, ["a", "b", "c"])).toEqual({
      why: "; earlier lists had shown all 38",
      shown: [3, 4],
    });
  });
});
