import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { checkPlace, placeFiles } from "./place.ts";
import { folderOfFile } from "../conformance/testing/folders.ts";

const folder = folderOfFile();
it("checkPlace does not create the folder, and placeFiles does", () => {
  const place = { folder: path.join(folder, "a", "b"), flag: "--report-out" };
  checkPlace(place);
  expect(readdirSync(folder)).toEqual([]);
  placeFiles(place, [[path.join(place.folder, "x"), "text"]]);
  expect(readdirSync(place.folder)).toEqual(["x"]);
});

it("checkPlace and placeFiles name the flag and the reason if a folder cannot be written", () => {
  const file = path.join(folder, "file");
  writeFileSync(file, "");
  const place = { folder: path.join(file, "below"), flag: "--report-out" };
  const message = `--report-out: ${place.folder} cannot be written (a part of the path is a file); choose a writable folder`;
  expect(() => checkPlace(place)).toThrow(message);
  expect(() => placeFiles(place, [[path.join(place.folder, "x"), ""]])).toThrow(message);
  expect(() => checkPlace({ ...place, folder: file })).toThrow("a part of the path is a file");
  expect(() => placeFiles({ ...place, folder: file }, [[path.join(file, "x"), ""]])).toThrow(
    "a part of the path is a file",
  );
});
