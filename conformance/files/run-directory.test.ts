import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../testing/folders.ts";
import { makeFolders } from "./run-directory.ts";

const folder = folderOfFile();

it.runIf(process.platform === "linux")("a file system that takes no folders ends the attempt", () => {
  expect(() => makeFolders("/proc/x/y")).toThrow("ENOENT");
});

it("makes folders from the nearest one that exists", () => {
  const deep = path.join(folder, "c", "d", "e");
  makeFolders(deep);
  expect(readdirSync(path.dirname(deep))).toEqual(["e"]);
});
