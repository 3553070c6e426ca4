import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { folderOfFile } from "../testing/folders.ts";
import { makeFolders } from "./run-directory.ts";

const folder = folderOfFile();

it.runIf(process.platform === "linux")("makeFolders throws if the file system accepts no folders", () => {
  expect(() => makeFolders("/proc/x/y")).toThrow("ENOENT");
});

it("makeFolders creates every missing folder of a path", () => {
  const deep = path.join(folder, "c", "d", "e");
  makeFolders(deep);
  expect(readdirSync(path.dirname(deep))).toEqual(["e"]);
});
