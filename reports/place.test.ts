import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
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

it("checkPlace and placeFiles refuse a run directory and folders in it, but not those beside it", () => {
  const run = path.join(folder, "run");
  mkdirSync(run);
  writeFileSync(path.join(run, "run.json"), "{}");
  symlinkSync(run, path.join(folder, "link"));
  const refused = (place: string, runs: readonly string[]): void => {
    const message = `--out is "${place}"; accepted is a folder outside every run directory`;
    expect(() => checkPlace({ folder: place, flag: "--out", runs })).toThrow(message);
  };
  checkPlace({ folder: run, flag: "--out" });
  checkPlace({ folder: `${run}-report`, flag: "--out", runs: [run] });
  const [open, planned] = [path.join(folder, "link"), path.join(folder, "planned")];
  for (const place of [run, open, path.join(open, "reports", "today")]) refused(place, [run]);
  for (const place of [planned, path.join(planned, "reports")]) refused(place, [planned]);
  writeFileSync(path.join(run, "manifest.json"), "{}");
  refused(path.join(run, "reports"), []);
  expect(() => placeFiles({ folder: open, flag: "--out" }, [[path.join(open, "x"), ""]])).toThrow("--out is");
  expect(readdirSync(run).toSorted()).toEqual(["manifest.json", "run.json"]);
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
