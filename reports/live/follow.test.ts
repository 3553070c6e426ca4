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
  const events: LiveEvent[] = [];
  return { events, poll: follow(directory, (event) => void events.push(event)) };
};
const kinds = (events: readonly LiveEvent[]): readonly string[] => [
  ...new Set(events.map(({ kind }) => kind)),
];

it("emits the start, the rules with their breaches, and the outcome of a gate", () => {
  const run = path.join(folder, "gate");
  writeGateRun(run, { seed: 1, failing: ["code.single-use"] });
  const { events, poll } = followed(run);
  poll();
  expect(events[0]).toMatchObject({ kind: "gate" });
  expect(events.at(-1)).toMatchObject({ kind: "outcome", of: "gate" });
  const broken = events.find((event) => event.kind === "rule" && event.verdict === "failed");
  expect(broken).toMatchObject({ id: "code.single-use", expected: expect.any(String) as unknown });
});

it("emits the seconds, the heat of each endpoint, and the outcome of a load, each once", () => {
  const run = path.join(folder, "load");
  writeLoadRun(run, { seed: 1, seconds: 5, requests: 200 });
  const { events, poll } = followed(run);
  poll();
  expect(kinds(events)).toEqual(expect.arrayContaining(["load", "second", "heat", "outcome"]));
  const before = events.length;
  poll();
  expect(events).toHaveLength(before);
  const heat = events.filter((event) => event.kind === "heat");
  expect(heat.every(({ p50Ms, p99Ms }) => p50Ms <= p99Ms)).toBe(true);
  const rows = heat.flatMap((one) => one.rows);
  expect(rows.every(([row, count]) => row >= 0 && row < HEAT_ROWS && count > 0)).toBe(true);
});

it("waits for files that do not exist yet, and for the end of an incomplete line", () => {
  const [source, run] = [path.join(folder, "load"), path.join(folder, "growing")];
  const { events, poll } = followed(run);
  poll();
  expect(events).toEqual([]);
  mkdirSync(path.join(run, "samples"), { recursive: true });
  const whole = readFileSync(path.join(source, "samples/seconds.jsonl"), "utf8");
  const [first = "", second = ""] = whole.split("\n");
  const file = path.join(run, "samples/seconds.jsonl");
  writeFileSync(file, `${first}\n${second.slice(0, 20)}`);
  poll();
  expect(events).toHaveLength(1);
  appendFileSync(file, `${second.slice(20)}\n`);
  poll();
  expect(events.map((event) => (event.kind === "second" ? event.line : undefined))).toEqual([
    JSON.parse(first),
    JSON.parse(second),
  ]);
});

it("maps each latency to the row of the heat map that contains it", () => {
  for (const ms of [0.02, 1, 7.5, 120, 4_000]) {
    expect(msOf(rowOf(ms))).toBeLessThanOrEqual(ms);
    expect(msOf(rowOf(ms) + 1)).toBeGreaterThan(ms);
  }
  expect([rowOf(0), rowOf(1e9)]).toEqual([0, HEAT_ROWS - 1]);
});
