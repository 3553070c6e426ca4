import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { baselineOf } from "../compare/fingerprint.ts";
import { readRun } from "../read/index.ts";
import { historyDoc } from "../document/history.ts";
import { onTerminal } from "../testing/shown.ts";
import { ruleThat } from "../testing/fixture.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { historyOf, isChange } from "./history.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const home = folderOfFile();
let folder: string;
let made = 0;

const startedAt = (day: number): string => new Date(Date.UTC(2030, 0, day)).toISOString();
const two = (day: number): string => String(day).padStart(2, "0");

/** Twelve runs of the gate in which one rule fails now and then, and twelve load runs that are slower from the seventh on. */
beforeAll(() => {
  for (let day = 1; day <= 12; day += 1) {
    writeGateRun(path.join(home, "runs", `gate-${two(day)}`), {
      seed: day,
      exchanges: 2,
      failing: [3, 4, 8].includes(day) ? ["code.single-use"] : [],
      missing: day === 12 ? ["refresh.lifetime"] : [],
      record: { startedAt: startedAt(day) },
    });
    writeLoadRun(path.join(home, "runs", `load-${two(day)}`), {
      seed: day,
      seconds: 2,
      requests: 300,
      slowness: day < 7 ? 1 : 1.6,
      record: { startedAt: startedAt(day) },
    });
  }
});
beforeEach(() => {
  folder = path.join(home, `folder-${(made += 1)}`);
  cpSync(path.join(home, "runs"), folder, { recursive: true });
});

const load = (name: string, record: Partial<LoadRecord>, slowness = 1): void => {
  writeLoadRun(path.join(folder, name), { seed: 1, seconds: 2, requests: 300, slowness, record });
};

const shown = async (question = {}) => onTerminal(historyDoc(await historyOf(folder, question)));

describe("the history of a folder", () => {
  it("lists runs by time, and filters them", async () => {
    expect((await historyOf(folder)).runs).toHaveLength(24);
    const loads = await historyOf(folder, { kind: "load", since: startedAt(5), last: 3 });
    expect(loads.runs.map(({ name }) => name)).toEqual(["load-10", "load-11", "load-12"]);
    expect((await historyOf(folder, { target: "elsewhere" })).runs).toEqual([]);
  });

  it.each([
    ["p50", 20, 20.4, false],
    ["p50", 20, 24, true],
    ["p50", 2, 2.6, false],
    ["p50", 0, 0, false],
    ["requests per second", 199, 201, false],
    ["requests per second", 199, 150, true],
  ] as const)("has a change of the %s from %d to %d only if it matters", (metric, before, after, changes) => {
    expect(isChange(`list ${metric}`, [before], after)).toBe(changes);
  });

  it("has no change within the range of the runs before", () => {
    expect(isChange("list p99", [20, 26, 20], 27)).toBe(false);
    expect(isChange("list p99", [20, 26, 20], 30)).toBe(true);
    expect(isChange("list p99", [20, 26, 20], 17)).toBe(true);
    expect(isChange("list p99", [], 17)).toBe(false);
  });

  it("has a series for each metric, with the newest change of those that changed first", async () => {
    const { series } = await historyOf(folder, { endpoint: "list", metric: "p50" });
    expect(series).toMatchObject([
      { what: "list p50", asked: "mixed, constant, 150/s", newest: { name: "load-07" } },
    ]);
    expect(series[0]?.points).toHaveLength(12);
    const { before, value } = series[0]?.newest ?? {};
    expect(Number(value) / Number(before)).toBeGreaterThan(1.4);
    const all = (await historyOf(folder)).series.map(({ newest }) => newest?.startedAt ?? "");
    expect(all).toEqual(all.toSorted().toReversed());
  });

  it("keeps runs with another fingerprint, and invalid ones, out of a series", async () => {
    load("other", { startedAt: startedAt(13), fingerprint: { scenario: "token" } });
    load("invalid", { startedAt: startedAt(14), validity: { valid: false, reasons: [] } });
    const { series, runs } = await historyOf(folder, { endpoint: "list", metric: "p95" });
    expect(series.map(({ points }) => points.length).toSorted((a, b) => a - b)).toEqual([1, 12]);
    expect(runs.map(({ name }) => name)).toContain("invalid");
  });

  it("has the verdicts of rules that did not always pass, or of the one that was asked for", async () => {
    const { series } = await historyOf(folder, { kind: "conform" });
    expect(series.map(({ what }) => what)).toEqual(["code.single-use"]);
    expect(series[0]?.points.map(({ value }) => value === "failed")).toEqual(
      Array.from({ length: 11 }, (_, at) => [2, 3, 7].includes(at)),
    );
    expect(series[0]?.newest).toMatchObject({ name: "gate-09", before: "failed", value: "passed" });
    const ofOneRule = await historyOf(folder, { rule: "code.lifetime" });
    expect(ofOneRule.series.map(({ what, points }) => [what, points.length])).toEqual([
      ["code.lifetime", 11],
    ]);
    expect(await shown({ rule: "code.lifetime" })).toContain("failed 0 of 11");
    expect(await shown({ rule: "lifecycle.model", kind: "load" })).toContain(
      "no verdict on lifecycle.model in a complete run.",
    );
  });

  it("takes a changed verdict only from runs that asked for the same", async () => {
    rmSync(folder, { recursive: true });
    // Only thorough runs find the breach.
    for (let day = 1; day <= 8; day += 1)
      writeGateRun(path.join(folder, `gate-${two(day)}`), {
        seed: day,
        exchanges: 2,
        failing: day % 2 === 0 ? ["code.single-use"] : [],
        record: { startedAt: startedAt(day), effort: day % 2 === 0 ? "thorough" : "quick" },
      });
    const { series } = await historyOf(folder);
    expect(series.map(({ what, asked, points, newest }) => [what, asked, points.length, newest])).toEqual([
      ["code.single-use", "gate, thorough", 4, undefined],
    ]);
  });

  it("takes values from the selected runs only, of which some may be incomplete", async () => {
    const latest = await historyOf(folder, { kind: "conform", last: 1 });
    expect(latest.runs.map(({ name }) => name)).toEqual(["gate-12"]);
    expect(latest.series).toEqual([]);
    expect(historyDoc(latest).detail).toBe("1 run; none complete.");
    const [one] = (await historyOf(folder, { kind: "conform", last: 5 })).series;
    expect(one?.points.map(({ name }) => name)).toEqual(["gate-08", "gate-09", "gate-10", "gate-11"]);
  });
});

describe("incomplete runs", () => {
  const gate = (name: string, record: Partial<RunRecord>): void => {
    writeGateRun(path.join(folder, name), { seed: 1, exchanges: 2, record });
  };

  it("are in no series, with the reason", async () => {
    const before = await historyOf(folder);
    const whole = readFileSync(path.join(folder, "gate-01", "run.json"), "utf8");
    const { rules, cases: _, ...record } = JSON.parse(whole) as RunRecord;
    gate("interrupted", {
      startedAt: startedAt(20),
      outcome: "interrupted",
      exitCode: 130,
      rules: rules.map(({ id }) => ruleThat.stayedOpen(id, "interrupted", "run it again")),
    });
    gate("after-one-rule", { startedAt: startedAt(21), rules: rules.slice(0, 1) });
    gate("target-down", { ...record, startedAt: startedAt(22), rules: [], outcome: "incomplete" });
    writeGateRun(path.join(folder, "failed-and-missing"), {
      seed: 1,
      exchanges: 2,
      failing: ["code.unknown"],
      missing: ["code.lifetime"],
      record: { startedAt: startedAt(24) },
    });
    const stopped = { startedAt: startedAt(23), stopped: "interrupted", outcome: "interrupted" } as const;
    load("load-stopped", stopped, 50);
    const after = await historyOf(folder);
    expect(after.series).toEqual(before.series);
    expect(after.runs).toHaveLength(before.runs.length + 5);
    expect(after.leftOut).toEqual([
      { name: "gate-12", reason: expect.stringContaining("could not be judged") as string },
      { name: "interrupted", reason: "it was interrupted" },
      { name: "after-one-rule", reason: expect.stringContaining("not reached") as string },
      { name: "target-down", reason: expect.stringContaining("not reached") as string },
      { name: "load-stopped", reason: "it was interrupted" },
      { name: "failed-and-missing", reason: expect.stringContaining("could not be judged") as string },
    ]);
  });

  it("have no tick if they passed", async () => {
    const passed = { startedAt: startedAt(30), outcome: "passed", exitCode: 0 } as const;
    const { rules } = JSON.parse(readFileSync(path.join(folder, "gate-01", "run.json"), "utf8")) as RunRecord;
    gate("after-one-rule", { ...passed, rules: rules.slice(0, 1) });
    const text = await shown();
    expect(text).toContain("? The latest run did not pass: embedded reference service (gate, standard).");
    expect(text).toMatch(/after-one-rule +2030-01-30 .* \? passed, but incomplete/);
  });
});

describe("run directories", () => {
  it("are listed as problems, with the reason, while they cannot be read", async () => {
    const run = path.join(folder, "gate-05", "run.json");
    const whole = readFileSync(run, "utf8");
    writeFileSync(run, whole.slice(0, 200));
    const { problems, runs } = await historyOf(folder, { kind: "conform" });
    expect(problems).toMatchObject([
      { name: "gate-05", problem: expect.stringContaining("damaged") as string },
    ]);
    expect(runs).toHaveLength(11);
    writeFileSync(run, whole);
    expect(await historyOf(folder)).toMatchObject({ problems: [] });
  });

  it("are listed as problems if the folder itself cannot be read, and left out of a baseline", async () => {
    const loop = path.join(folder, "loop");
    symlinkSync("loop", loop);
    expect((await historyOf(folder)).problems).toMatchObject([
      { name: "loop", problem: expect.stringContaining("cannot be read") },
    ]);
    const head = await readRun(path.join(folder, "load-12"));
    const { runs, leftOut } = await baselineOf(folder, head);
    expect(runs).toHaveLength(11);
    expect(leftOut).toContainEqual({ directory: loop, reason: expect.stringContaining("cannot be read") });
  });

  it("are read again each time, so that changes and deletions show at once", async () => {
    await historyOf(folder);
    rmSync(path.join(folder, "gate-03"), { recursive: true });
    rmSync(path.join(folder, "load-01"), { recursive: true });
    const run = path.join(folder, "gate-04", "run.json");
    writeFileSync(run, readFileSync(run, "utf8").replace('"outcome": "failed"', '"outcome": "incomplete"'));
    const { runs, series } = await historyOf(folder);
    expect(runs.map(({ name }) => name)).not.toContain("gate-03");
    expect(runs.find(({ name }) => name === "gate-04")?.outcome).toBe("incomplete");
    expect(series.find(({ what }) => what === "list p50")?.points).toHaveLength(11);
  });

  it("are read without leaving files in the folder", async () => {
    await historyOf(folder);
    expect(readdirSync(folder)).toHaveLength(24);
  });

  it("must be in an existing folder, which may be empty", async () => {
    await expect(historyOf(path.join(folder, "none"))).rejects.toThrow(ConfigurationError);
    await expect(historyOf(path.join(folder, "gate-01"))).rejects.toThrow("is itself a run directory");
    const empty = path.join(folder, "empty");
    mkdirSync(empty);
    expect(await historyOf(empty)).toMatchObject({ runs: [], series: [], problems: [] });
  });
});
