import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../conformance/testing/folders.ts";
import { readRun, type Run } from "./read/index.ts";
import { writeGateRun, writeLoadRun } from "./testing/records.ts";
import { writeReports } from "./write.ts";
import { checkPlace, placeFiles } from "./place.ts";

const folder = folderOfFile();
let runs: readonly Run[];

beforeAll(async () => {
  writeGateRun(path.join(folder, "gate"), { seed: 1, failing: ["code.single-use"] });
  writeLoadRun(path.join(folder, "load"), { seed: 1, seconds: 5, requests: 200 });
  runs = [await readRun(path.join(folder, "gate")), await readRun(path.join(folder, "load"))];
});

it("no report is written if one of them cannot be put in place", async () => {
  const out = path.join(folder, "half");
  mkdirSync(path.join(out, "ctrf.json", "taken"), { recursive: true });
  const writing = writeReports(runs, { formats: ["ctrf", "junit"], out, program: "touchstone" });
  await expect(writing).rejects.toThrow("ctrf.json cannot be written");
  expect(readdirSync(out)).toEqual(["ctrf.json"]);
});

const placeFolder = folderOfFile();
it("checkPlace does not create the folder, and placeFiles does", () => {
  const place = { folder: path.join(placeFolder, "a", "b"), flag: "--report-out" };
  checkPlace(place);
  expect(readdirSync(placeFolder)).toEqual([]);
  placeFiles(place, [[path.join(place.folder, "x"), "text"]]);
  expect(readdirSync(place.folder)).toEqual(["x"]);
});

it("checkPlace and placeFiles name the flag and the reason if a folder cannot be written", () => {
  const file = path.join(placeFolder, "file");
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

it("placeFiles leaves reports to the umask, and keeps what is private to its owner", () => {
  const modes = (name: string, isPrivate?: true): readonly number[] => {
    const at = path.join(placeFolder, name);
    placeFiles({ folder: at, flag: "--out", ...(isPrivate && { isPrivate }) }, [[path.join(at, "x"), ""]]);
    return [at, path.join(at, "x")].map((one) => statSync(one).mode & 0o777);
  };
  const umask = process.umask(0o027);
  try {
    expect(modes("shown")).toEqual([0o750, 0o640]);
    expect(modes("kept", true)).toEqual([0o700, 0o600]);
  } finally {
    process.umask(umask);
  }
});
