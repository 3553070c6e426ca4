import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { beforeAll, describe, expect, it } from "vitest";
import { requirementIds } from "../conformance/contract/catalogue.ts";
import { runHere } from "../conformance/testing/run-here.ts";
import type { Comparison } from "./compare/shape.ts";
import type { History } from "./history/history.ts";
import { writeGateRun, writeLoadRun } from "./testing/records.ts";
import { madeDuet } from "./testing/duet-document.ts";
import { writeDuet } from "./duet/document.ts";
import { folderOfFile } from "../conformance/testing/folders.ts";

/** `report`, `compare`, `rules` and `history` on the command line, mostly on made-up run directories. */

const home = folderOfFile();
const at = (...names: readonly string[]): string => path.join(home, ...names);
const day = (number: number): string => new Date(Date.UTC(2030, 0, number)).toISOString();

beforeAll(() => {
  writeGateRun(at("runs", "gate-1"), { seed: 1, exchanges: 3, record: { startedAt: day(1) } });
  writeGateRun(at("runs", "gate-2"), {
    seed: 2,
    exchanges: 3,
    failing: ["code.single-use"],
    record: { startedAt: day(2) },
  });
  for (let number = 1; number <= 11; number += 1)
    writeLoadRun(at("runs", `load-${String(number).padStart(2, "0")}`), {
      seed: number,
      seconds: 2,
      requests: 300,
      slowness: number === 11 ? 60 : 20 * (1 + 0.02 * (number % 3)),
      record: { startedAt: day(number) },
    });
});
/** Without the environment of a CI service, which gets its own annotations. */
const cli = (...parameters: readonly string[]) => runHere(parameters, { env: { CI: "" } });

it("`report` on the folder of a duet writes its page and its summary", async () => {
  writeDuet(at("duet"), madeDuet({ pairs: 4 }));
  const asked = ["report", at("duet"), "--report", "html,markdown,junit", "--out", at("d")];
  const { exitCode, stdout } = await runHere(asked);
  expect({ exitCode, files: stdout.trim().split("\n") }).toEqual({
    exitCode: 0,
    files: ["html", "md", "xml"].map((end) => at("d", `duet.${end}`)),
  });
  expect(readFileSync(at("d", "duet.md"), "utf8")).toContain("Pair by pair");
  expect(readFileSync(at("d", "duet.xml"), "utf8")).toContain('<testsuite name="touchstone duet"');
  expect(await runHere(["report", at("duet"), "--report", "ctrf"])).toMatchObject({ exitCode: 2 });
});

it("`compare` writes its page, its test cases and its data", async () => {
  const gates = [at("runs", "gate-1"), at("runs", "gate-2")];
  const out = at("compared");
  const compared = await cli("compare", ...gates, "--report", "html,junit", "--out", out);
  expect(compared.exitCode).toBe(1);
  const text = (name: string): string => readFileSync(path.join(out, name), "utf8");
  expect(text("comparison.html")).toContain("code.single-use");
  expect(text("comparison.xml")).toMatch(/<testcase name="code.single-use"[^>]*>\s*<failure/);
  expect(JSON.parse(text("comparison.json"))).toMatchObject({ exitCode: 1 });
});

describe("report", () => {
  it("writes all formats of a gate and a load run once into a folder of its own, and lists the files", async () => {
    const out = at("all-six");
    const runs = [at("runs", "gate-2"), at("runs", "load-01")];
    const formats = "html,junit,ctrf,markdown,codequality,har,html";
    const run = await cli("report", ...runs, "--report", formats, "--out", out, "--json");
    const pages = ["report.html", "junit.xml", "ctrf.json", "summary.md", "code-quality.json"];
    const names = [...pages, "failures.har"];
    expect(JSON.parse(run.stdout)).toEqual({ files: names.map((name) => path.join(out, name)) });
    expect(run.exitCode).toBe(0);
    expect(readdirSync(out).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(readFileSync(path.join(out, name), "utf8")).toContain("code.single-use");
  });

  it("refuses a run given twice, and flags that --schema would ignore", async () => {
    const gate = at("runs", "gate-1");
    const twice = await cli("report", gate, gate, "--out", at("twice"));
    expect(twice.stderr).toContain(`"${gate}" and "${gate}" are the same folder; give different runs`);
    const beside = await cli("report", "--schema", "conform", gate, "--report", "html", "--out", at("never"));
    expect(beside.stderr).toContain("does nothing else; remove the run directories, --report, --out");
    for (const refused of [twice, beside]) expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("--schema prints a schema under which records are valid", async () => {
    const { stdout, exitCode } = await cli("report", "--schema", "load");
    expect(exitCode).toBe(0);
    const isLoad = new Ajv({ strictTypes: false, formats: { "date-time": true } }).compile(
      JSON.parse(stdout) as object,
    );
    const record: unknown = JSON.parse(readFileSync(at("runs", "load-01", "run.json"), "utf8"));
    expect(isLoad(record), JSON.stringify(isLoad.errors)).toBe(true);
  });

  it("reports the available part of a run that is still open", async () => {
    cpSync(at("runs", "gate-2"), at("open"), { recursive: true });
    const file = at("open", "run.json");
    const {
      outcome: _,
      endedAt: __,
      exitCode: ___,
      ...rest
    } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...rest, state: "open", rules: [] }));
    const asked = [at("open"), "--report", "markdown", "--out", at("of-open")];
    const { stdout, exitCode } = await cli("report", ...asked);
    expect([stdout.trim(), exitCode]).toEqual([at("of-open", "summary.md"), 0]);
    expect(readFileSync(at("of-open", "summary.md"), "utf8")).toContain("code.single-use");
  });
});

describe("compare", () => {
  it("exits with 1 if a rule newly fails, and with 0 if it is fixed", async () => {
    const [worse, better] = await Promise.all([
      cli("compare", at("runs", "gate-1"), at("runs", "gate-2"), "--json"),
      cli("compare", at("runs", "gate-2"), at("runs", "gate-1")),
    ]);
    expect(worse.exitCode).toBe(1);
    expect(JSON.parse(worse.stdout) as Comparison).toMatchObject({ verdict: "regressed" });
    expect(worse.stdout).toContain("code.single-use");
    expect(better.exitCode).toBe(0);
    expect(better.stdout).toMatch(/fixed/i);
  });

  it("exits with 1 if a load run is worse than ten earlier ones of a folder", async () => {
    const { exitCode, stdout } = await cli("compare", at("runs", "load-11"), "--baseline", at("runs"));
    expect(stdout).toContain("against 10 earlier runs");
    expect(exitCode).toBe(1);
  });

  it("refuses runs that are not comparable, with the reason, unless --force is given", async () => {
    writeGateRun(at("quick"), { seed: 1, exchanges: 3, record: { effort: "quick" } });
    const [refused, forced] = await Promise.all([
      cli("compare", at("runs", "gate-1"), at("quick")),
      cli("compare", at("runs", "gate-1"), at("quick"), "--force"),
    ]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("differ in effort: standard / quick");
    expect(forced.stdout.split("\n")[0]).toBe("Comparison forced: these runs differ in effort");
    expect(forced.stdout).toContain("Forced: the two runs did not make the same checks.");
    expect(forced.stdout).not.toContain("✓");
    expect(forced.exitCode).toBe(3);
  });

  it("refuses a run beside itself, whatever its path, and names both", async () => {
    const folder = at("runs", "gate-1");
    symlinkSync(folder, at("link"));
    const twice = [folder, at("link"), path.relative(process.cwd(), folder), `${folder}/`];
    for (const same of twice) {
      const { exitCode, stdout, stderr } = await cli("compare", folder, same, "--force");
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`"${folder}" and "${same}" are the same folder; give different runs`);
    }
    const { exitCode } = await cli("compare", at("runs", "gate-2"), folder, at("link"));
    expect(exitCode).toBe(2);
  });
});

it("`rules --json` has every requirement with the defects that break it, or one", async () => {
  const document = JSON.parse((await cli("rules", "--json")).stdout) as { readonly id: string }[];
  expect(document.map(({ id }) => id)).toEqual(requirementIds);
  const one = await cli("rules", "code.single-use", "--json");
  expect(JSON.parse(one.stdout)).toMatchObject({
    level: "required",
    sections: ["2.1", "3.1"],
    defects: expect.arrayContaining([expect.stringContaining("code-reusable")]) as unknown,
  });
});

describe("history", () => {
  it("lists the runs of a folder, with filters", async () => {
    const filters = "--kind load --since 2030-01-03 --last 4 --endpoint list --metric p95".split(" ");
    const [all, filtered] = await Promise.all([
      cli("history", at("runs")),
      cli("history", at("runs"), ...filters, "--json"),
    ]);
    expect(all.exitCode).toBe(0);
    expect(all.stdout).toMatch(/code\.single-use/);
    expect(all.stdout).toContain("13 runs;");
    const { runs, series } = JSON.parse(filtered.stdout) as History;
    expect(runs.map(({ name }) => name)).toEqual(["load-08", "load-09", "load-10", "load-11"]);
    expect(series.map(({ what }) => what)).toEqual(["list p95"]);
  });

  it("--report html writes the page, beside the folder by default", async () => {
    const [given, beside] = await Promise.all([
      cli("history", at("runs"), "--report", "html", "--out", at("page")),
      cli("history", `${at("runs")}/`, "--report", "html"),
    ]);
    expect(given.stderr).toContain(at("page", "history.html"));
    expect(readFileSync(at("page", "history.html"), "utf8")).toContain("load-11");
    expect(existsSync(at("runs-report", "history.html"))).toBe(true);
    expect([given.exitCode, beside.exitCode]).toEqual([0, 0]);
  });

  it("exits with 2 for an unknown format, or --out without --report", async () => {
    const [format, out] = await Promise.all([
      cli("history", at("runs"), "--report", "pdf"),
      cli("history", at("runs"), "--out", at("page")),
    ]);
    expect(format.stderr).toMatch(/--report.*pdf.*html/s);
    expect(out.stderr).toContain("--out needs --report");
    expect([format, out].map(({ exitCode }) => exitCode)).toEqual([2, 2]);
  });
});

it("`report` and `history` read a folder that holds a gate and a load, and `compare` names both", async () => {
  const made = at("both", "nightly");
  writeGateRun(path.join(made, "gate"), { seed: 1, exchanges: 3 });
  writeLoadRun(path.join(made, "load"), { seed: 1, seconds: 2, requests: 300 });
  const { exitCode, stdout } = await cli("report", made, "--report", "junit");
  expect([exitCode, stdout.trim()]).toEqual([0, `${made}-report/junit.xml`]);
  const xml = readFileSync(stdout.trim(), "utf8");
  for (const name of ["touchstone gate", "touchstone load"]) expect(xml).toContain(`name="${name}"`);
  const { runs } = JSON.parse((await cli("history", at("both"), "--json")).stdout) as History;
  expect(runs.map(({ name }) => name)).toEqual(["nightly/gate", "nightly/load"]);
  const compared = await cli("compare", made, at("runs", "gate-1"));
  expect(compared).toMatchObject({ exitCode: 2, stdout: "" });
  expect(compared.stderr).toContain(`holds a gate and a load; give ${made}/gate or ${made}/load`);
});
