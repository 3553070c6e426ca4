import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { recordVersion } from "../../conformance/contract/record.ts";
import {
  openLoadRecord,
  crossDuplicates,
  digestBytes,
  partitionOf,
  writeDigest,
  type CrossDuplicate,
  type StoredDigest,
} from "./record.ts";
import { headerFor } from "./testing/loads.ts";
import { eachTestIn } from "../../conformance/testing/folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));

const recordIn = (directory: string): unknown =>
  JSON.parse(readFileSync(path.join(directory, "run.json"), "utf8"));
const seconds = "samples/seconds.jsonl";

const header = headerFor("http://127.0.0.1:1");

describe("the record of a load run", () => {
  it("exists from the beginning as open, and holds each line after one turn of the event loop", async () => {
    const directory = path.join(folder, "new/run");
    using record = openLoadRecord(directory, header);
    expect(recordIn(directory)).toMatchObject({ state: "open", command: "load", version: recordVersion });
    record.second({ second: 0, asked: 1, started: 1, dropped: 0, requests: {}, breaches: {} });
    await setImmediate();
    expect(readFileSync(path.join(directory, seconds), "utf8")).toMatch(/^\{"second":0,.*\}\n$/);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(directory, seconds)).mode & 0o777).toBe(0o600);
  });

  it("is sealed, and nothing is written after that", () => {
    const directory = path.join(folder, "run");
    const record = openLoadRecord(directory, header);
    record.latency("#head\n");
    const sealed = record.seal({ endedAt: "2026-01-01T00:00:02.000Z", exitCode: 0, notes: ["a note"] });
    expect(sealed).toMatchObject({ state: "sealed", exitCode: 0, notes: ["a note"], scenario: "token" });
    record.latency("late\n");
    expect(readFileSync(path.join(directory, "samples/latency.hlog"), "utf8")).toBe("#head\n");
  });

  it("shortens a log of k6 that grows without end", () => {
    const directory = path.join(folder, "run");
    const record = openLoadRecord(directory, header);
    for (let line = 0; line < 3_000; line += 1) record.log("x".repeat(1_000));
    record[Symbol.dispose]();
    expect(statSync(path.join(directory, "k6.log")).size).toBeLessThan(1_050_000);
    expect(readFileSync(path.join(directory, "k6.log"), "utf8")).toMatch(/\(cut off here\)\n$/);
  });

  it("refuses a folder in use and one that cannot be written", () => {
    writeFileSync(path.join(folder, "file"), "");
    expect(() => openLoadRecord(folder, header)).toThrow(/--out is ".*", a folder that is not empty/);
    const below = path.join(folder, "file/run");
    expect(() => openLoadRecord(below, header)).toThrow(/--out is ".*", which cannot be written/);
    mkdirSync(path.join(folder, "empty"));
    openLoadRecord(path.join(folder, "empty"), header)[Symbol.dispose]();
  });

  it("reports a failed write, keeps what was written, and is not sealed", () => {
    const directory = path.join(folder, "run");
    // The kernel lets no file of the child grow beyond 16 KiB, as a full disk would.
    const script = `
      import { openLoadRecord } from ${JSON.stringify(path.join(import.meta.dirname, "record.ts"))};
      process.on("SIGXFSZ", () => {});
      const record = openLoadRecord(${JSON.stringify(directory)}, ${JSON.stringify(header)});
      for (let second = 0; second < 1_000; second += 1) record.second({ second, asked: 1, started: 1, dropped: 0, requests: {}, breaches: {} });
      let sealed = "sealed";
      try { record.seal({ endedAt: "2026-01-01T00:00:02.000Z" }); } catch (error) { sealed = error.message; }
      console.log(JSON.stringify({ failure: record.failure(), sealed }));`;
    const child = spawnSync(
      "sh",
      ["-c", 'ulimit -f 16; exec "$0" --input-type=module --eval "$1"', process.execPath, script],
      { encoding: "utf8" },
    );
    const { failure, sealed } = JSON.parse(child.stdout) as { failure: string; sealed: string };
    expect(failure).toBe("the file is larger than allowed here");
    expect(sealed).toMatch(/could not be completed/);
    const lines = readFileSync(path.join(directory, seconds), "utf8").split("\n");
    expect(lines.length).toBeGreaterThan(50);
    for (const line of lines.slice(0, -1)) expect(JSON.parse(line)).toMatchObject({ asked: 1 });
    expect(recordIn(directory)).toMatchObject({ state: "open" });
  });
});

const bytesOf = (stored: readonly StoredDigest[]): Buffer => {
  const buffer = Buffer.alloc(stored.length * digestBytes);
  for (const [at, one] of stored.entries()) writeDigest(buffer, at * digestBytes, one);
  return buffer;
};

const foundIn = (...segments: readonly Buffer[]): readonly CrossDuplicate[] => {
  const duplicates: CrossDuplicate[] = [];
  const partitions = segments.map((bytes, at) => ({ segment: at + 1, bytes }));
  crossDuplicates(partitions, (one) => duplicates.push(one));
  return duplicates;
};
const found = (...segments: readonly (readonly StoredDigest[])[]) => foundIn(...segments.map(bytesOf));

const one = (what: StoredDigest["what"], atMs: number, digest = "ffeeddccbbaa9988"): StoredDigest => ({
  what,
  digest,
  atMs,
});

describe("digests of several segments", () => {
  it("show a credential that two of them were issued, with both times", () => {
    expect(
      found([one("code", 1_200)], [one("code", 2_000_000_000), one("code", 5, "0000000000000000")]),
    ).toEqual([
      { what: "code", first: { segment: 1, atMs: 1_200 }, second: { segment: 2, atMs: 1_073_741_823 } },
    ]);
  });

  it("are compared among codes and among tokens of either kind", () => {
    expect(found([one("code", 1)], [one("accessToken", 2)])).toEqual([]);
    expect(found([one("accessToken", 1)], [one("refreshToken", 2)])).toHaveLength(1);
  });

  it("do not count a segment's own duplicates again, and count the others as a pooled run would", () => {
    expect(found([one("code", 1), one("code", 2)], [])).toEqual([]);
    expect(
      found([one("code", 1), one("code", 2)], [one("code", 3), one("code", 4)], [one("code", 5)]),
    ).toHaveLength(2);
  });

  it("may end in an incomplete digest, as those of a killed segment do", () => {
    const cut = bytesOf([one("code", 1), one("code", 2, "0123456789abcdef")]).subarray(0, digestBytes + 5);
    expect(foundIn(cut, bytesOf([one("code", 9)]))).toHaveLength(1);
  });

  it("are partitioned by their first bits", () => {
    expect(["00", "03", "04", "ff"].map((first) => partitionOf(`${first}00000000000000`))).toEqual([
      0, 0, 1, 63,
    ]);
  });
});
