import { describe, expect, it } from "vitest";
import { isRecentEnough, oldestNode, runOnBroughtNode, trimming } from "./runtime.ts";

it.each([
  [oldestNode.join("."), true],
  [`${oldestNode.join(".")}.0`, true],
  ["25.0.0", true],
  ["100.1.0", true],
  ["24.14.9", false],
  ["23.99.0", false],
  ["20.19.0", false],
  ["", false],
])("Node %s is recent enough: %s", (version, expected) => {
  expect(isRecentEnough(version)).toBe(expected);
});

it("starts no other Node where this one will do", async () => {
  expect(await runOnBroughtNode(["node", "nowhere.js"])).toBe(undefined);
});

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
