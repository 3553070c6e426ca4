import { existsSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { longest } from "./longest-first.ts";
import { root } from "./measure.ts";

it("every file that is listed to run first exists and is listed once", () => {
  expect(longest.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  expect(new Set(longest).size).toBe(longest.length);
});
