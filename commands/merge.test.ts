import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { beforeEach, expect, it } from "vitest";
import { holdRecords } from "./merge.ts";
import { eachTestIn } from "../conformance/testing/folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));
beforeEach(() => {
  for (const name of ["1", "2"]) mkdirSync(path.join(folder, name));
});
const record = (name: string): string => path.join(folder, name);

it("locks records against other merges until released, and leaves no files", () => {
  const release = holdRecords([record("1"), `${record("2")}/`, record("2")]);
  expect(() => holdRecords([record("2")])).toThrow(
    /2" is in use by another merge \(process \d+ on .*\); wait for it to end, or remove/,
  );
  release();
  expect(readdirSync(folder)).toEqual(["1", "2"]);
  holdRecords([record("1")])();
});

it("releases its locks if another merge holds one of the records", () => {
  const release = holdRecords([record("2")]);
  expect(() => holdRecords([record("1"), record("2")])).toThrow("in use by another merge");
  holdRecords([record("1")])();
  release();
});

it("takes over the lock of a killed merge, but not of one on another machine", () => {
  const file = path.join(folder, ".1.merging");
  // Real process ids are far lower.
  writeFileSync(file, `${hostname()} 2147483646`);
  holdRecords([record("1")])();
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, "elsewhere.example 2147483646");
  expect(() => holdRecords([record("1")])).toThrow("on elsewhere.example");
});

it("works without a lock file if nothing can be written beside the record", () => {
  expect(holdRecords([path.join(folder, "missing", "1")])).not.toThrow();
});
