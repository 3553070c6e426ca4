import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { folderOfFile } from "../conformance/testing/folders.ts";
import { readRun, type Run } from "./read/index.ts";
import { writeGateRun, writeLoadRun } from "./testing/records.ts";
import { writeReports } from "./write.ts";

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
