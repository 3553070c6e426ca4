import { expect, it } from "vitest";
import { isRecentEnough, oldestNode, runOnBroughtNode } from "./runtime.ts";

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
