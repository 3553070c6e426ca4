import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compareRuns } from "./compare/index.ts";
import { reportFormats } from "./formats.ts";
import { historyOf } from "./history/index.ts";
import { readRun, type Run } from "./read/index.ts";
import { writeGateRun, writeLoadRun } from "./testing/records.ts";
import { madeDuet } from "./testing/duet-document.ts";
import { comparisonSuite, duetSuite } from "./ci/compared.ts";
import { readComparison, storedComparison } from "./compare/stored.ts";
import { compareDoc } from "./document/compare.ts";
import { duetDoc } from "./document/duet.ts";
import { historyDoc } from "./document/history.ts";
import { ciRunsOf, writeDocument, writeReports } from "./write.ts";
import { seededRandom } from "../conformance/contract/random.ts";
import { folderOfFile } from "../conformance/testing/folders.ts";

const folder = folderOfFile();
let runs: readonly Run[];

beforeAll(async () => {
  writeGateRun(path.join(folder, "gate"), { seed: 1, failing: ["code.single-use"] });
  writeLoadRun(path.join(folder, "load"), { seed: 1, seconds: 5, requests: 200 });
  runs = [await readRun(path.join(folder, "gate")), await readRun(path.join(folder, "load"))];
});
const write = (out: string, formats = reportFormats) =>
  writeReports(runs, { formats, out, program: "touchstone" });

describe("writing reports", () => {
  it("creates the folder and writes each format of all runs once, and nothing else", async () => {
    const out = path.join(folder, "new", "reports");
    const files = await write(out, [...reportFormats, "html"]);
    expect(files).toEqual(
      [
        "report.html",
        "junit.xml",
        "ctrf.json",
        "summary.md",
        "code-quality.json",
        "failures.har",
        "failures.mjs",
      ].map((name) => path.join(out, name)),
    );
    expect(readdirSync(out).toSorted()).toEqual([
      "code-quality.json",
      "ctrf.json",
      "failures.har",
      "failures.mjs",
      "junit.xml",
      "report.html",
      "summary.md",
    ]);
    for (const file of files.filter((one) => !one.endsWith("code-quality.json")))
      expect(readFileSync(file, "utf8")).toContain("code.single-use");
  });

  it("replaces an earlier report", async () => {
    const out = path.join(folder, "again");
    mkdirSync(out);
    writeFileSync(path.join(out, "junit.xml"), "old");
    await write(out, ["junit"]);
    expect(readFileSync(path.join(out, "junit.xml"), "utf8")).toContain("<testsuites");
  });

  it("rejects with the path and the reason if the folder is a file", async () => {
    const out = path.join(folder, "file");
    writeFileSync(out, "");
    await expect(write(path.join(out, "reports"), ["junit"])).rejects.toMatchObject({
      name: "ConfigurationError",
      message: `--out: ${path.join(out, "reports")} cannot be written (a part of the path is a file); choose a writable folder`,
    });
  });

  it("writes no report if one of them cannot be put in place", async () => {
    const out = path.join(folder, "half");
    mkdirSync(path.join(out, "ctrf.json", "taken"), { recursive: true });
    await expect(write(out, ["ctrf", "junit"])).rejects.toThrow("ctrf.json cannot be written");
    expect(readdirSync(out)).toEqual(["ctrf.json"]);
  });

  it("writes the history of a folder as a page", async () => {
    const out = path.join(folder, "history");
    const shown = historyDoc(await historyOf(folder));
    const [file] = writeDocument(shown, { name: "history", formats: ["html"], out });
    expect([file, readdirSync(out)]).toEqual([path.join(out, "history.html"), ["history.html"]]);
  });

  it("writes a comparison and a duet as HTML, Markdown and JUnit", async () => {
    const out = path.join(folder, "pages");
    const [gate] = runs;
    if (gate === undefined) throw new Error("no run");
    const compared = await compareRuns([gate], gate, { force: false, random: seededRandom(1) });
    const document = madeDuet({ pairs: 3 });
    const duet = duetDoc(document, { run: "runs/duet", isPilot: false });
    const formats = ["html", "markdown", "junit"] as const;
    const files = [
      ...writeDocument(compareDoc(compared, { base: "base.html" }), {
        name: "comparison",
        formats,
        out,
        suite: comparisonSuite(compared, 0),
        beside: [storedComparison(out, { tool: "1", exitCode: 0, comparison: compared })],
      }),
      ...writeDocument(duet, { name: "duet", formats, out, suite: duetSuite(document, "runs/duet", 0) }),
    ];
    const names = ["comparison", "duet"].flatMap((name) => [".html", ".md", ".xml"].map((end) => name + end));
    expect(files).toEqual(names.map((name) => path.join(out, name)));
    expect(readdirSync(out).toSorted()).toEqual([...names, "comparison.json"].toSorted());
    const text = (name: string): string => readFileSync(path.join(out, name), "utf8");
    for (const name of ["comparison", "duet"]) {
      expect(text(`${name}.html`)).toMatch(/^<!doctype html>.*<\/html>\n$/s);
      expect(text(`${name}.xml`)).toContain(`<testsuite name="touchstone ${name}"`);
    }
    expect(text("comparison.html")).toContain('<a href="base.html">The report of this run</a>');
    expect(readComparison(out, "1")?.comparison).toEqual(compared);
    expect(() => readComparison(out, "2")).toThrow("compare the runs again");
    const below = path.join(out, "duet.html", "x");
    expect(() => writeDocument(duet, { name: "duet", formats: ["html"], out: below })).toThrow(
      "cannot be written",
    );
  });

  it("passes the pinned fingerprints to reports for CI", () => {
    expect(
      ciRunsOf(runs, { "authorize.redirect": "{}" }).map(({ run, pinned }) => [path.basename(run), pinned]),
    ).toEqual([
      ["gate", { "authorize.redirect": "{}" }],
      ["load", { "authorize.redirect": "{}" }],
    ]);
  });
});
