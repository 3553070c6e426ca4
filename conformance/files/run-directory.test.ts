import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { makeFolders } from "./run-directory.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-folders-"));
afterAll(() => rmSync(folder, { recursive: true }));

it.runIf(process.platform === "linux")("a file system that takes no folders ends the attempt", () => {
  expect(() => makeFolders("/proc/x/y")).toThrow("ENOENT");
});

it("makes folders from the nearest one that exists", () => {
  const deep = path.join(folder, "c", "d", "e");
  makeFolders(deep);
  expect(readdirSync(path.dirname(deep))).toEqual(["e"]);
});
