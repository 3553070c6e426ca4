import { describe, expect, it } from "vitest";
import { trimming } from "./heap.ts";

describe("trimming the heap", () => {
  it("does nothing while it is small, and collects once when much is alive, not at every look", () => {
    let used = 10_000_000;
    let collected = 0;
    const look = trimming(
      () => used,
      () => (collected += 1),
    );
    look();
    expect(collected).toBe(0);
    used = 500_000_000;
    for (let again = 0; again < 100; again += 1) look();
    expect(collected).toBe(1);
    used = 800_000_000;
    look();
    expect(collected).toBe(2);
  });
});
