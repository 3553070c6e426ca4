import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import type { ExchangeRecord, RuleResult } from "../contract/record.ts";
import { recordFiles } from "../contract/files.ts";
import { readGateRun } from "../../reports/read/index.ts";
import { openRecord, type RecordFinal, type RecordHeader, type RecordWriter } from "./writer.ts";
import { eachTestIn } from "../testing/folders.ts";
import { breach } from "../testing/made.ts";
import { problemOf } from "../testing/errors.ts";

let home: string;
eachTestIn((made) => (home = made));
const header: RecordHeader = {
  tool: "0.1.0",
  command: "conform",
  startedAt: "2030-01-02T03:04:05.000Z",
  seed: 7,
  effort: "quick",
  strict: false,
  selected: ["code.single-use", "authorize.echoes-state"],
  target: { name: "staging", baseUrl: "http://127.0.0.1:1/", profiles: [], clock: "virtual" },
  maxWaitMs: 0,
  settings: {},
  pinned: {},
  waivers: [],
  limits: { ...documentLimits },
  replacedLimits: [],
  notes: [],
};

const final: RecordFinal = { endedAt: "2030-01-02T03:04:07.000Z", outcome: "failed", exitCode: 1 };

const exchange = (n: number, text = "{}"): ExchangeRecord => ({
  n,
  rule: "code.single-use",
  startedMs: n,
  durationMs: 1.5,
  request: { method: "GET", path: "/open-api/oauth/authorize?state=a", headers: [["accept", "*/*"]] },
  answer: { status: 200, headers: [["content-type", "application/json"]], text },
});

const failed: RuleResult = {
  id: "code.single-use",
  level: "required",
  group: "code",
  durationMs: 12,
  exchanges: [exchange(1), exchange(2)],
  verdict: {
    kind: "failed",
    cases: 3,
    breach: breach({ evidence: [1, 2] }),
  },
};
const passed: RuleResult = {
  id: "authorize.echoes-state",
  level: "required",
  group: "authorize",
  durationMs: 9,
  exchanges: [],
  verdict: { kind: "passed", cases: 25, facts: { états: ["vu"] } },
};

/** A run directory in which two rules have settled. */
const written = (directory: string): RecordWriter => {
  const writer = openRecord(directory, header);
  writer.sink.write(exchange(1));
  writer.sink.write(exchange(2, "é\u2028\u0000"));
  writer.addRule(failed);
  writer.addRule(passed);
  return writer;
};

/** The record in a directory and its exchanges. */
const read = async (directory: string) => {
  const run = await readGateRun(directory);
  return { record: run.record, exchanges: await Array.fromAsync(run.exchanges()) };
};

const eventLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a sealed record", () => {
  it("reads back as written, with rules in the order of the catalogue", async () => {
    const directory = path.join(home, "deep", "run");
    const sealed = written(directory).seal({ ...final, notes: ["one note"] });
    const { record, exchanges } = await read(directory);
    expect(record).toEqual(sealed);
    expect(record).toMatchObject({
      state: "sealed",
      outcome: "failed",
      exitCode: 1,
      seed: 7,
      notes: ["one note"],
    });
    expect(record.rules).toEqual([passed, failed]);
    expect(record.cases.map(({ id, status }) => [id, status])).toEqual([
      [passed.id, "passed"],
      [failed.id, "failed"],
    ]);
    expect(exchanges).toEqual([exchange(1), exchange(2, "é\u2028\u0000")]);
  });

  it("shows nothing in run.json and rules.jsonl that acts on a terminal, and still reads back as written", async () => {
    const directory = path.join(home, "invisible");
    const said = "a\u202eb\u200bc\u009bd\u3164e\u{e0041}f\u2028g";
    const writer = openRecord(directory, header);
    const told: RuleResult = { ...passed, verdict: { kind: "passed", cases: 1, facts: { said } } };
    writer.addRule(told);
    const sealed = writer.seal({ ...final, notes: [said] });
    for (const file of [recordFiles.run, recordFiles.rules])
      expect(readFileSync(path.join(directory, file), "utf8")).toContain(
        String.raw`a\u202eb\u200bc\u009bd\u3164e\udb40\udc41f\u2028g`,
      );
    expect((await read(directory)).record).toEqual(sealed);
    expect(sealed).toMatchObject({ notes: [said], rules: [told] });
  });

  it("is readable by its owner only", () => {
    const directory = path.join(home, "run");
    const writer = written(directory);
    writer.sink.push?.({ kind: "fault", n: 1, epoch: "one", atMs: 2, message: "a handshake failed" });
    writer.seal(final);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const modes = readdirSync(directory).map((file) => statSync(path.join(directory, file)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
  });

  it("keeps the receiver's lines in a file of their own, which is absent without lines", () => {
    const [silent, pushed] = [path.join(home, "silent"), path.join(home, "pushed")];
    written(silent).seal(final);
    expect(existsSync(path.join(silent, recordFiles.pushes))).toBe(false);
    const writer = written(pushed);
    const line = { kind: "fault", n: 1, epoch: "one", atMs: 2, message: "a handshake failed" } as const;
    writer.sink.push?.(line);
    writer.seal(final);
    writer.sink.push?.({ ...line, n: 2 });
    expect(JSON.parse(readFileSync(path.join(pushed, recordFiles.pushes), "utf8"))).toEqual(line);
  });

  it("ignores exchanges after sealing", async () => {
    const directory = path.join(home, "run");
    const writer = written(directory);
    writer.seal(final);
    writer.sink.write(exchange(3));
    await eventLoopTurn();
    writer.close();
    expect((await read(directory)).exchanges).toHaveLength(2);
  });
});

describe("a run that was cut off", () => {
  it("is open from the start, and on disk after one turn of the event loop", async () => {
    const directory = path.join(home, "run");
    const writer = openRecord(directory, header);
    const opened = { state: "open", rules: [], selected: header.selected };
    expect((await read(directory)).record).toMatchObject(opened);
    writer.sink.write(exchange(1));
    writer.addRule(failed);
    await eventLoopTurn();
    const { record, exchanges } = await read(directory);
    expect(record.rules).toEqual([failed]);
    expect(record.cases.map(({ verdict }) => verdict)).toEqual(["failed", "not reached"]);
    expect(exchanges).toEqual([exchange(1)]);
    writer.close();
  });

  it("can be read if its files are cut off at any byte", async () => {
    const directory = path.join(home, "run");
    written(directory).close();
    for (const name of [recordFiles.rules, recordFiles.exchanges]) {
      const linesRead = async (): Promise<readonly unknown[]> => {
        const { record, exchanges } = await read(directory);
        return name === recordFiles.rules ? record.rules : exchanges;
      };
      const file = path.join(directory, name);
      const whole = await linesRead();
      const bytes = readFileSync(file);
      for (let size = bytes.length; size >= 0; size -= 7) {
        truncateSync(file, size);
        const lines = bytes.subarray(0, size).toString("latin1").split("\n").length - 1;
        const got = await linesRead();
        // A line that only lacks its newline is already complete.
        expect([lines, lines + 1], `${name} cut at ${size}`).toContain(got.length);
        expect(whole).toEqual(expect.arrayContaining([...got]));
      }
    }
  });

  it("can be read without its line files, ignoring a half-written run.json", async () => {
    const directory = path.join(home, "run");
    mkdirSync(directory);
    written(path.join(home, "other")).close();
    copyFileSync(path.join(home, "other", recordFiles.run), path.join(directory, recordFiles.run));
    writeFileSync(path.join(directory, `${recordFiles.run}.part`), "{");
    const { record, exchanges } = await read(directory);
    expect([record.rules, exchanges]).toEqual([[], []]);
  });
});

describe("a directory for a record", () => {
  it("is refused and left unchanged if it is not empty", async () => {
    writeFileSync(path.join(home, "mine"), "kept");
    expect(await problemOf(() => openRecord(home, header))).toBe(
      `--out is "${home}", a folder that is not empty; give one that is empty or does not exist yet`,
    );
    expect(readFileSync(path.join(home, "mine"), "utf8")).toBe("kept");
  });

  it("is refused and left unchanged if it contains an earlier run", async () => {
    const directory = path.join(home, "run");
    written(directory).seal(final);
    const before = readFileSync(path.join(directory, recordFiles.run), "utf8");
    expect(await problemOf(() => openRecord(directory, header))).toContain("--out is");
    expect(readFileSync(path.join(directory, recordFiles.run), "utf8")).toBe(before);
  });

  it.each([
    ["a file", ["file"]],
    ["below a file", ["file", "run"]],
    ["deep below a file", ["file", "a", "run"]],
    ["a path with too long a name", ["x".repeat(300)]],
    ["not a valid path", ["a\0b"]],
  ])("is refused if it is %s", async (_, parts) => {
    writeFileSync(path.join(home, "file"), "");
    const directory = path.join(home, ...parts);
    expect(await problemOf(() => openRecord(directory, header))).toMatch(
      /^--out is ".*", which cannot be written \(.+\); choose a writable folder$/s,
    );
  });
});
