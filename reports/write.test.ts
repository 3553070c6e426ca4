import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareRuns } from "./compare/index.ts";
import { historyOf } from "./history/index.ts";
import { readRun, type Run } from "./read/index.ts";
import { seededRandom } from "./statistics/random.ts";
import { writeGateRun, writeLoadRun } from "./testing/records.ts";
import { madeDuet } from "./testing/duet-document.ts";
import {
  ciRunsOf,
  reportFormats,
  writeComparison,
  writeDuetReport,
  writeHistory,
  writeReports,
} from "./write.ts";

let folder: string;
let runs: readonly Run[];

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-write-"));
  writeGateRun(path.join(folder, "gate"), { seed: 1, failing: ["code.single-use"] });
  writeLoadRun(path.join(folder, "load"), { seed: 1, seconds: 5, requests: 200 });
  runs = [await readRun(path.join(folder, "gate")), await readRun(path.join(folder, "load"))];
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (out: string, formats = reportFormats) =>
  writeReports(runs, { formats, out, program: "touchstone" });

describe("writing reports", () => {
  it("writes each format of all runs once, makes the folder, and leaves nothing else there", async () => {
    const out = path.join(folder, "new", "reports");
    const files = await write(out, [...reportFormats, "html"]);
    expect(files).toEqual(
      ["report.html", "junit.xml", "ctrf.json", "summary.md"].map((name) => path.join(out, name)),
    );
    expect(readdirSync(out).toSorted()).toEqual(["ctrf.json", "junit.xml", "report.html", "summary.md"]);
    for (const file of files) expect(readFileSync(file, "utf8")).toContain("code.single-use");
  });

  it("replaces an earlier report", async () => {
    const out = path.join(folder, "again");
    mkdirSync(out);
    writeFileSync(path.join(out, "junit.xml"), "old");
    await write(out, ["junit"]);
    expect(readFileSync(path.join(out, "junit.xml"), "utf8")).toContain("<testsuites");
  });

  it("says where and why it cannot write, where the folder is a file", async () => {
    const out = path.join(folder, "file");
    writeFileSync(out, "");
    await expect(write(path.join(out, "reports"), ["junit"])).rejects.toMatchObject({
      name: "UnwritableReport",
      message: `--out: ${path.join(out, "reports")} cannot be written (a part of the path is a file); give a folder that can`,
    });
  });

  it("leaves nothing half-written where one of the reports cannot be put in place", async () => {
    const out = path.join(folder, "half");
    mkdirSync(path.join(out, "ctrf.json", "taken"), { recursive: true });
    await expect(write(out, ["ctrf", "junit"])).rejects.toThrow("ctrf.json cannot be written");
    expect(readdirSync(out)).toEqual(["ctrf.json"]);
  });

  it("writes the history of a folder as a page", async () => {
    const out = path.join(folder, "history");
    const file = writeHistory(await historyOf(folder), out);
    expect([file, readdirSync(out)]).toEqual([path.join(out, "history.html"), ["history.html"]]);
  });

  it("writes a comparison and a duet as pages", async () => {
    const out = path.join(folder, "pages");
    const [gate] = runs;
    if (gate === undefined) throw new Error("no run");
    const compared = await compareRuns([gate], gate, { force: false, random: seededRandom(1) });
    const files = [writeComparison(compared, out), writeDuetReport(madeDuet({ pairs: 3 }), "runs/duet", out)];
    expect(files).toEqual(["comparison.html", "duet.html"].map((name) => path.join(out, name)));
    expect(readdirSync(out).toSorted()).toEqual(["comparison.html", "duet.html"]);
    for (const file of files) expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>.*<\/html>\n$/s);
    expect(() => writeComparison(compared, path.join(out, "duet.html", "x"))).toThrow("cannot be written");
  });

  it("gives reports for CI the pinned fingerprints", () => {
    expect(
      ciRunsOf(runs, { "authorize.redirect": "{}" }).map(({ run, pinned }) => [path.basename(run), pinned]),
    ).toEqual([
      ["gate", { "authorize.redirect": "{}" }],
      ["load", { "authorize.redirect": "{}" }],
    ]);
  });
});
