import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { baselineOf } from "../compare/baseline.ts";
import { readRun } from "../read/index.ts";
import { historyDoc } from "../document/history.ts";
import { onTerminal } from "../testing/shown.ts";
import { ruleThat } from "../testing/fixture.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { historyOf } from "./index.ts";
import { trendsOf } from "./trends.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const home = folderOfFile();
let folder: string;
let made = 0;

const startedAt = (day: number): string => new Date(Date.UTC(2030, 0, day)).toISOString();
const two = (day: number): string => String(day).padStart(2, "0");

/** Twelve runs of the gate in which one rule is flaky, and twelve load runs that are slower from the seventh on. */
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

describe("the history of a folder", () => {
  it("lists runs by time, and filters them", async () => {
    expect((await historyOf(folder)).runs).toHaveLength(24);
    const loads = await historyOf(folder, { kind: "load", since: startedAt(5), last: 3 });
    expect(loads.runs.map(({ name }) => name)).toEqual(["load-10", "load-11", "load-12"]);
    const failed = await historyOf(folder, { kind: "conform", outcome: "failed" });
    expect(failed.runs.map(({ name }) => name)).toEqual(["gate-03", "gate-04", "gate-08"]);
    expect((await historyOf(folder, { target: "elsewhere" })).runs).toEqual([]);
  });

  it.each([
    ["p50", 20, 20.4, []],
    ["p50", 20, 24, [6]],
    ["p50", 2, 2.6, []],
    ["requests per second", 199, 201, []],
    ["requests per second", 199, 150, [6]],
  ] as const)("has a change of the %s from %d to %d only if it matters", (metric, before, after, at) => {
    const listed = { kind: "load", state: "sealed", target: "staging" } as const;
    const runs = Array.from({ length: 12 }, (_, day) => ({
      listed: { ...listed, name: `load-${day}`, startedAt: startedAt(day) },
      incomplete: undefined,
      fingerprint: "",
      shape: "constant",
      verdicts: [],
      // Almost no noise: however small, the change is certain.
      figures: [{ endpoint: "list", metric, value: (day < 6 ? before : after) * (1 + (day % 3) / 10_000) }],
    }));
    expect(trendsOf(runs, {})[0]?.changes.map((change) => change.at)).toEqual(at);
  });

  it("has a trend for each latency, with the points where its level changed", async () => {
    const { trends } = await historyOf(folder, { endpoint: "list", metric: "p50" });
    expect(trends).toHaveLength(1);
    expect(trends[0]?.points).toHaveLength(12);
    expect(trends[0]?.changes.map(({ at }) => at)).toEqual([6]);
    const [change] = trends[0]?.changes ?? [];
    expect((change?.after ?? 0) / (change?.before ?? 1)).toBeGreaterThan(1.4);
  });

  it("keeps runs with another fingerprint, and invalid ones, out of a trend", async () => {
    load("other", { startedAt: startedAt(13), fingerprint: { scenario: "token" } });
    load("invalid", { startedAt: startedAt(14), validity: { valid: false, reasons: [] } });
    const { trends, runs } = await historyOf(folder, { endpoint: "list", metric: "p95" });
    expect(trends.map(({ points }) => points.length).toSorted((a, b) => a - b)).toEqual([1, 12]);
    expect(runs.map(({ name }) => name)).toContain("invalid");
  });

  it("lists the verdicts of rules that did not always pass, and the flaky ones", async () => {
    const { rules, flaky } = await historyOf(folder);
    const single = rules.find(({ id, kind }) => id === "code.single-use" && kind === "conform");
    expect(single?.points.map(({ verdict }) => verdict === "failed")).toEqual(
      Array.from({ length: 11 }, (_, at) => [2, 3, 7].includes(at)),
    );
    expect(rules.map(({ id }) => id)).not.toContain("code.lifetime");
    expect(flaky).toEqual([
      {
        id: "code.single-use",
        target: "embedded reference service",
        kind: "conform",
        judged: 11,
        failed: 3,
        flips: 4,
        rate: 4 / 10,
      },
    ]);
    const ofOneRule = await historyOf(folder, { rule: "code.lifetime" });
    expect(ofOneRule.rules.map(({ id, points }) => [id, points.length])).toEqual([["code.lifetime", 11]]);
  });

  it("tells flakiness only from runs that asked for the same", async () => {
    rmSync(folder, { recursive: true });
    const gate = (day: number, effort: RunRecord["effort"], fails: boolean): void => {
      writeGateRun(path.join(folder, `gate-${two(day)}`), {
        seed: day,
        exchanges: 2,
        failing: fails ? ["code.single-use"] : [],
        record: { startedAt: startedAt(day), effort },
      });
    };
    // Only thorough runs find the breach.
    for (let day = 1; day <= 8; day += 1) gate(day, day % 2 === 0 ? "thorough" : "quick", day % 2 === 0);
    const steady = await historyOf(folder);
    expect(steady.rules.map(({ id, points }) => [id, points.length])).toEqual([["code.single-use", 8]]);
    expect(steady.flaky).toEqual([]);
    // A defect that appears changes the verdict once in the runs of either effort.
    for (const day of [9, 11]) gate(day, "quick", true);
    expect((await historyOf(folder)).flaky).toEqual([]);
    for (const [day, fails] of [
      [12, false],
      [14, true],
      [16, true],
    ] as const)
      gate(day, "thorough", fails);
    expect((await historyOf(folder)).flaky).toMatchObject([
      { id: "code.single-use", judged: 7, failed: 6, flips: 2, rate: 2 / 6 },
    ]);
    for (const day of [15, 17]) gate(day, "quick", day === 17);
    expect((await historyOf(folder)).flaky).toMatchObject([
      { id: "code.single-use", judged: 8, failed: 3, flips: 3, rate: 3 / 7 },
    ]);
  });

  it("says of one rule how often it failed, and nothing of the others", async () => {
    const shown = async (rule: string) => onTerminal(historyDoc(await historyOf(folder, { rule })));
    const held = await shown("code.lifetime");
    expect(held).toContain("code.lifetime failed in 0 of 11 runs with a verdict on it.");
    expect(held).toContain("Verdicts of code.lifetime\n");
    expect(held).not.toMatch(/did not always pass|no rule failed/);
    expect(await shown("code.single-use")).toContain("code.single-use failed in 3 of");
    const ofLoads = await historyOf(folder, { rule: "lifecycle.model", kind: "load" });
    expect(historyDoc(ofLoads).detail).toContain("no complete run has a verdict on lifecycle.model.");
  });

  it("takes verdicts and trends from the selected runs only, of which some may be incomplete", async () => {
    const latest = await historyOf(folder, { kind: "conform", last: 1 });
    expect(latest.runs.map(({ name }) => name)).toEqual(["gate-12"]);
    expect([latest.rules, latest.flaky, latest.trends]).toEqual([[], [], []]);
    expect(historyDoc(latest).detail).toBe("1 run; none complete.");
    const [drawn] = (await historyOf(folder, { kind: "conform", last: 5 })).rules;
    expect(drawn?.points.map(({ name }) => name)).toEqual(["gate-08", "gate-09", "gate-10", "gate-11"]);
  });

  it("is rendered for a terminal", async () => {
    const text = onTerminal(historyDoc(await historyOf(folder)));
    expect(text).toMatch(
      /list p50\n.*mixed, constant, 150 requests a second\. From load-07 on: [^]*\(\+\d+(\.\d+)? %, p = 0\.005\)\.\n +[▁▂▃▄▅▆▇█]{12} /,
    );
    expect(text).toContain("✓✓✗✗✓✓✓✗✓✓✓");
    expect(text).toMatch(/code\.single-use +embedded reference service +3 of 11 +4 times/);
  });
});

describe("incomplete runs", () => {
  const gate = (name: string, record: Partial<RunRecord>): void => {
    writeGateRun(path.join(folder, name), { seed: 1, exchanges: 2, record });
  };

  it("are left out of trends and histories of rules, with the reason", async () => {
    const before = await historyOf(folder);
    const whole = readFileSync(path.join(folder, "gate-01", "run.json"), "utf8");
    const { rules, ...record } = JSON.parse(whole) as RunRecord;
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
    expect(after.rules).toEqual(before.rules);
    expect(after.flaky).toEqual(before.flaky);
    expect(after.trends).toEqual(before.trends);
    expect(after.runs).toHaveLength(before.runs.length + 5);
    expect(after.leftOut).toEqual([
      { name: "gate-12", reason: expect.stringContaining("could not be judged") as string },
      { name: "interrupted", reason: "it was interrupted" },
      { name: "after-one-rule", reason: expect.stringContaining("not reached") as string },
      { name: "target-down", reason: expect.stringContaining("not reached") as string },
      { name: "load-stopped", reason: "it was interrupted" },
      { name: "failed-and-missing", reason: expect.stringContaining("could not be judged") as string },
    ]);
    const bare = { ...after, rules: [], flaky: [] };
    expect(onTerminal(historyDoc(bare))).toContain("no rule failed in a complete run");
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
    const { runs, trends } = await historyOf(folder);
    expect(runs.map(({ name }) => name)).not.toContain("gate-03");
    expect(runs.find(({ name }) => name === "gate-04")?.outcome).toBe("incomplete");
    const p50 = trends.find(({ endpoint, metric }) => endpoint === "list" && metric === "p50");
    expect(p50?.changes.map(({ at }) => at)).toEqual([5]);
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
    expect(await historyOf(empty)).toMatchObject({ runs: [], trends: [], rules: [], problems: [] });
  });
});
