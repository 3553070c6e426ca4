import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { follow } from "./follow.ts";
import { HEAT_ROWS, msOf, rowOf } from "../gather/heat.ts";
import type { LiveEvent } from "./protocol.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const folder = folderOfFile();
const followed = (directory: string) => {
  const told: LiveEvent[] = [];
  return { told, look: follow(directory, (event) => void told.push(event)) };
};
const kinds = (told: readonly LiveEvent[]): readonly string[] => [...new Set(told.map(({ kind }) => kind))];

it("tells a gate from its record: what is judged, each rule, and the exchanges of a breach", () => {
  const run = path.join(folder, "gate");
  writeGateRun(run, { seed: 1, failing: ["code.single-use"] });
  const { told, look } = followed(run);
  look();
  expect(told[0]).toMatchObject({ kind: "gate" });
  expect(told.at(-1)).toMatchObject({ kind: "outcome", of: "gate" });
  const broken = told.find((event) => event.kind === "rule" && event.verdict === "failed");
  expect(broken).toMatchObject({ id: "code.single-use", expected: expect.any(String) as unknown });
});

it("tells a load from its record: seconds, and the heat of each endpoint", () => {
  const run = path.join(folder, "load");
  writeLoadRun(run, { seed: 1, seconds: 5, requests: 200 });
  const { told, look } = followed(run);
  look();
  expect(kinds(told)).toEqual(expect.arrayContaining(["load", "second", "heat", "outcome"]));
  const before = told.length;
  look();
  expect(told).toHaveLength(before);
  const heat = told.filter((event) => event.kind === "heat");
  expect(heat.every(({ p50Ms, p99Ms }) => p50Ms <= p99Ms)).toBe(true);
  const rows = heat.flatMap((one) => one.rows);
  expect(rows.every(([row, count]) => row >= 0 && row < HEAT_ROWS && count > 0)).toBe(true);
});

it("waits for the end of a line that is being written, and for files that are not there yet", () => {
  const [source, run] = [path.join(folder, "load"), path.join(folder, "growing")];
  const { told, look } = followed(run);
  look();
  expect(told).toEqual([]);
  mkdirSync(path.join(run, "samples"), { recursive: true });
  const whole = readFileSync(path.join(source, "samples/seconds.jsonl"), "utf8");
  const [first = "", second = ""] = whole.split("\n");
  const file = path.join(run, "samples/seconds.jsonl");
  writeFileSync(file, `${first}\n${second.slice(0, 20)}`);
  look();
  expect(told).toHaveLength(1);
  appendFileSync(file, `${second.slice(20)}\n`);
  look();
  expect(told.map((event) => (event.kind === "second" ? event.line : undefined))).toEqual([
    JSON.parse(first),
    JSON.parse(second),
  ]);
});

it("counts each latency in the row that holds it", () => {
  for (const ms of [0.02, 1, 7.5, 120, 4_000]) {
    expect(msOf(rowOf(ms))).toBeLessThanOrEqual(ms);
    expect(msOf(rowOf(ms) + 1)).toBeGreaterThan(ms);
  }
  expect([rowOf(0), rowOf(1e9)]).toEqual([0, HEAT_ROWS - 1]);
});
