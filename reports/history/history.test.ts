import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { UnreadableRun } from "../read/index.ts";
import { plain } from "../terminal/palette.ts";
import { renderHistory } from "../terminal/run-history.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { historyOf } from "./index.ts";

let home: string;
let folder: string;
let made = 0;

const startedAt = (day: number): string => new Date(Date.UTC(2030, 0, day)).toISOString();
const two = (day: number): string => String(day).padStart(2, "0");

/** Twelve runs of the gate in which one rule goes to and fro, and twelve load runs that get slower with the ninth. */
beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), "touchstone-history-"));
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
afterAll(() => rmSync(home, { recursive: true }));
beforeEach(() => {
  folder = path.join(home, `folder-${(made += 1)}`);
  cpSync(path.join(home, "runs"), folder, { recursive: true });
});

const index = (): string => path.join(folder, ".history.sqlite");

describe("the history of a folder", () => {
  it("lists its runs by time, and filters them", async () => {
    expect((await historyOf(folder)).runs).toHaveLength(24);
    const loads = await historyOf(folder, { kind: "load", since: startedAt(5), last: 3 });
    expect(loads.runs.map(({ name }) => name)).toEqual(["load-10", "load-11", "load-12"]);
    const failed = await historyOf(folder, { kind: "conform", outcome: "failed" });
    expect(failed.runs.map(({ name }) => name)).toEqual(["gate-03", "gate-04", "gate-08"]);
    expect((await historyOf(folder, { target: "elsewhere" })).runs).toEqual([]);
  });

  it("follows each latency and finds where its level changed", async () => {
    const { trends } = await historyOf(folder, { endpoint: "list", metric: "p50" });
    expect(trends).toHaveLength(1);
    expect(trends[0]?.points).toHaveLength(12);
    expect(trends[0]?.changes.map(({ at }) => at)).toEqual([6]);
    const [change] = trends[0]?.changes ?? [];
    expect((change?.after ?? 0) / (change?.before ?? 1)).toBeGreaterThan(1.4);
  });

  it("keeps runs of different fingerprints, and invalid ones, out of a trend", async () => {
    const record = { startedAt: startedAt(13), fingerprint: { scenario: "token" } };
    writeLoadRun(path.join(folder, "other"), { seed: 1, seconds: 2, requests: 300, record });
    const invalid = { startedAt: startedAt(14), validity: { valid: false, reasons: [] } };
    writeLoadRun(path.join(folder, "invalid"), { seed: 1, seconds: 2, requests: 300, record: invalid });
    const { trends, runs } = await historyOf(folder, { endpoint: "list", metric: "p95" });
    expect(trends.map(({ points }) => points.length).toSorted((a, b) => a - b)).toEqual([1, 12]);
    expect(runs.map(({ name }) => name)).toContain("invalid");
  });

  it("tells the verdicts of rules that did not always hold, and which are flaky", async () => {
    const { rules, flaky } = await historyOf(folder);
    const single = rules.find(({ id, kind }) => id === "code.single-use" && kind === "conform");
    expect(single?.points.map(({ verdict }) => verdict === "failed")).toEqual(
      Array.from({ length: 12 }, (_, at) => [2, 3, 7].includes(at)),
    );
    expect(rules.map(({ id }) => id)).toContain("refresh.lifetime");
    expect(rules.map(({ id }) => id)).not.toContain("code.lifetime");
    expect(flaky).toEqual([
      {
        id: "code.single-use",
        target: "embedded reference service",
        kind: "conform",
        judged: 12,
        failed: 3,
        flips: 4,
        rate: 4 / 11,
      },
    ]);
    const asked = await historyOf(folder, { rule: "code.lifetime" });
    expect(asked.rules.map(({ id, points }) => [id, points.length])).toEqual([["code.lifetime", 12]]);
  });

  it("is drawn for a terminal", async () => {
    const text = renderHistory(await historyOf(folder), { palette: plain, columns: 100 });
    expect(text).toMatch(
      /list p50 .*mixed, constant, 150\/s\n.*[▁▂▃▄▅▆▇█]{12} .*\n +\+\d+(\.\d+)? % from load-07 on/,
    );
    expect(text).toContain("✓✓✗✗✓✓✓✗✓✓✓✓");
    expect(text).toMatch(/code\.single-use +embedded reference service +failed 3 of 12 +changed 4 times/);
  });
});

describe("the index", () => {
  it("is read by its owner only, and read again only where a run changed", async () => {
    await historyOf(folder);
    expect(statSync(index()).mode & 0o777).toBe(0o600);
    rmSync(path.join(folder, "gate-03"), { recursive: true });
    const run = path.join(folder, "gate-04", "run.json");
    writeFileSync(run, readFileSync(run, "utf8").replace('"outcome": "failed"', '"outcome": "incomplete"'));
    const { runs } = await historyOf(folder, { kind: "conform" });
    expect(runs.map(({ name }) => name)).not.toContain("gate-03");
    expect(runs.find(({ name }) => name === "gate-04")?.outcome).toBe("incomplete");
  });

  it("does not read a run again that did not change", async () => {
    await historyOf(folder);
    const database = new DatabaseSync(index());
    database.exec("UPDATE runs SET outcome = 'marked' WHERE name = 'gate-01'");
    database.close();
    expect((await historyOf(folder, { outcome: "marked" })).runs).toHaveLength(1);
  });

  it("remembers the changes of a series, and looks anew once the series is another", async () => {
    const asked = { endpoint: "list", metric: "p50" };
    const first = await historyOf(folder, asked);
    const database = new DatabaseSync(index());
    database.exec("UPDATE changes SET found = '[]'");
    database.close();
    expect((await historyOf(folder, asked)).trends[0]?.changes).toEqual([]);
    rmSync(path.join(folder, "load-01"), { recursive: true });
    const shorter = await historyOf(folder, asked);
    expect(first.trends[0]?.changes.map(({ at }) => at)).toEqual([6]);
    expect(shorter.trends[0]?.changes.map(({ at }) => at)).toEqual([5]);
  });

  it.each([
    ["lost", () => rmSync(index())],
    [
      "damaged",
      () => writeFileSync(index(), "no database at all, but long enough to be read as one".repeat(99)),
    ],
    ["cut", () => truncateSync(index(), 5_000)],
    [
      "of another shape",
      () => {
        const database = new DatabaseSync(index());
        database.exec("PRAGMA user_version = 99");
        database.close();
      },
    ],
  ])("is made anew where it is %s", async (_, spoil) => {
    const before = await historyOf(folder);
    spoil();
    expect(await historyOf(folder)).toEqual(before);
    expect(existsSync(index())).toBe(true);
  });

  it("keeps a run that cannot be read with the reason, and reads it once it can be", async () => {
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

  it("refuses what is no folder, and finds nothing in one without runs", async () => {
    await expect(historyOf(path.join(folder, "none"))).rejects.toThrow(UnreadableRun);
    const empty = path.join(folder, "empty");
    mkdirSync(empty);
    expect(await historyOf(empty)).toMatchObject({ runs: [], trends: [], rules: [], problems: [] });
  });
});
