import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { segmentRecord } from "../../../commands/merge.ts";
import type { LoadRecord, SecondLine } from "../../../conformance/contract/load-record.ts";
import type { ClockReading, Segment } from "../../../conformance/contract/segments.ts";
import { readRun } from "../../../reports/read/index.ts";
import { folderOfFile } from "../../../conformance/testing/folders.ts";
import {
  collected,
  issuedRow,
  rowsOf,
  segmentFor,
  writeSegment,
  type PlayedOptions,
} from "../testing/segments.ts";
import { mergeSegments } from "./merge.ts";
import type { AnyLoadRun } from "./machines.ts";

const TWICE = "00112233445566aa";

/** Segments 1 and 3 were issued the same token, and segment 2 a code with the same digest. */
const options: PlayedOptions = {
  count: 3,
  seconds: 4,
  rate: 60,
  extra: (index, second) =>
    second !== 2
      ? ""
      : index === 2
        ? issuedRow("code", TWICE, second)
        : issuedRow(index === 1 ? "accessToken" : "refreshToken", TWICE, second),
};

const folder = folderOfFile();
let runs: readonly AnyLoadRun[];
let sound: readonly AnyLoadRun[];
beforeAll(async () => {
  const { extra: _, ...plain } = options;
  const written = async (name: string, of: PlayedOptions): Promise<readonly AnyLoadRun[]> =>
    Promise.all([1, 2, 3].map((index) => segmentRecord(writeSegment(path.join(folder, name), index, of))));
  runs = await written("twice", options);
  sound = await written("sound", plain);
});

let outs = 0;
const out = (): string => path.join(folder, `merged-${(outs += 1)}`);

const indices = [1, 2, 3] as const;
const seconds = Array.from({ length: options.seconds }, (_, second) => second);

describe("a merged run", () => {
  it("has the figures that one machine would have", async () => {
    const merged = await mergeSegments(runs, out());
    const pooled = collected(
      options,
      seconds.map((second) => indices.map((index) => rowsOf(options, index, second)).join("")),
    );
    expect(merged.endpoints.toSorted(byName)).toEqual([...pooled.endpoints].toSorted(byName));
    const { arrivals, arrivalsAsked, requests, dropped, lag, mostConnecting } = pooled.achieved;
    expect(merged.achieved).toMatchObject({ arrivals, arrivalsAsked, requests, dropped, lag });
    expect(merged.achieved?.mostConnecting).toBeCloseTo(mostConnecting ?? 0, 2);
    const checked = merged.rules.filter(({ checks }) => checks > 0);
    expect(checked.toSorted(byId)).toEqual([...pooled.rules].toSorted(byId));
    expect(merged.notes.join()).toContain("refresh.unknown");
  });

  it("finds a token issued on two machines, and states when and how exactly that is known", async () => {
    const record = await mergeSegments(runs, out());
    const broken = record.rules.filter(({ breaches }) => breaches > 0);
    expect(broken.map(({ id, breaches }) => [id, breaches])).toEqual([["exchange.tokens-are-fresh", 1]]);
    expect(record).toMatchObject({ outcome: "failed", exitCode: 1 });
    const [breach] = record.breaches;
    expect(breach).toMatchObject({ rule: "exchange.tokens-are-fresh", segment: 3 });
    expect(breach?.actual).toMatch(/segment 3 .* at 2\.503 s on that of segment 1 \(± 2 ms/);
  });

  it("is readable like any other run, and contains no digests", async () => {
    const directory = out();
    const record = await mergeSegments(sound, directory);
    expect(record).toMatchObject({ outcome: "passed", exitCode: 0, validity: { valid: true, reasons: [] } });
    expect(record.merged).toMatchObject({ runId: "R", count: 3, skewMs: 2, skewErrorMs: 2 });
    expect(record.segment).toBeUndefined();
    expect(record.machine.cores).toBe(6);
    expect(record.state).toBe("sealed");
    expect(readdirSync(directory)).not.toContain("digests");
    const read = await readRun(directory);
    expect(read.record.outcome).toBe("passed");
    const lines = await Array.fromAsync((read as { seconds(): AsyncGenerator<SecondLine> }).seconds());
    expect(lines.map(({ second }) => second)).toEqual(seconds);
    expect(lines.reduce((sum, { started }) => sum + started, 0)).toBe(record.achieved?.arrivals);
  });
});

type Change = (run: AnyLoadRun, index: number) => AnyLoadRun | undefined;

const record =
  (which: number, change: Partial<LoadRecord>): Change =>
  (run, index) =>
    index === which ? { ...run, record: { ...run.record, ...change } } : run;

const segment = (which: number, change: Partial<Segment>): Change =>
  record(which, { segment: { ...segmentFor(which, 3), ...change } });

const reading = (offsetMs: number, errorMs = 1) => ({ offsetMs, errorMs, looks: 40 });
const vague = reading(0, 260);
const clocks = (before: ClockReading, after: ClockReading) => segment(2, { clock: { before, after } });
const ofTwo = (problem: string) => new RegExp(`segment 2 of 3: ${problem}`);
const late = { stopped: "its set-up outlasted the start by 3.0 s" };
const gaveUp = { stopped: "more than 50 % of the requests failed for 5 consecutive seconds" };
const few = { valid: false, reasons: [{ reason: "10 of 80 iterations were started", remedy: "x" }] };
const began = Date.parse(segmentFor(2, 3).startAt);

const changed = (change: Change): readonly AnyLoadRun[] =>
  sound.flatMap((run, at) => change(run, at + 1) ?? []);

describe("a merge of an incomplete run", () => {
  it.each<[string, Change, RegExp]>([
    ["left no record", (run, index) => (index === 2 ? undefined : run), ofTwo("its record is missing")],
    ["was killed", record(2, { state: "open" }), ofTwo("its record was never sealed")],
    ["was late", record(2, { ...late, outcome: "incomplete" }), ofTwo("its set-up outlasted the start")],
    ["was interrupted", record(2, { outcome: "interrupted" }), ofTwo("it was interrupted")],
    ["had a full disk", record(2, { outcome: "harness-error" }), ofTwo("its load generator failed")],
    ["fell behind", record(2, { validity: few }), ofTwo("10 of 80 iterations")],
    [
      "began 300 ms after the others",
      segment(2, { beganAtMs: began + 300 }),
      /began up to 299 ± 2 ms apart, segment 1 first and segment 2 last/,
    ],
    [
      "has a clock too uncertain to tell when it began",
      clocks(vague, vague),
      /began up to \d+ ± 261 ms apart/,
    ],
    ["has a clock that drifted", clocks(reading(2), reading(-150)), ofTwo("its clock drifted by 152 ms")],
    [
      "has an unknown clock",
      clocks({ looks: 9, unknown: "answers disagree" }, reading(0)),
      ofTwo("its clock is unknown before the load: answers disagree"),
    ],
    ["alone lost its network", record(2, { ...gaveUp, outcome: "failed" }), ofTwo("more than 50 %")],
  ])("is invalid and names the machine that %s", async (_, change, named) => {
    const merged = await mergeSegments(changed(change), out());
    expect(merged).toMatchObject({ outcome: "incomplete", exitCode: 3, validity: { valid: false } });
    expect(merged.validity?.reasons.map(({ reason }) => reason).join("\n")).toMatch(named);
  });

  it("fails if every machine gave up, as one machine would", async () => {
    const failed = { ...gaveUp, outcome: "failed" as const };
    const all = sound.map((run) => ({ ...run, record: { ...run.record, ...failed } }));
    expect(await mergeSegments(all, out())).toMatchObject({ ...failed, exitCode: 1 });
  });

  async function* mapped(run: AnyLoadRun, change: (line: SecondLine) => SecondLine) {
    for await (const line of run.seconds()) yield change(line);
  }

  it("fails if a rule was broken, even on a machine that was killed", async () => {
    const break1 = (line: SecondLine) =>
      line.second === 1 ? { ...line, breaches: { "code.single-use": 2 } } : line;
    const killed = changed(record(2, { state: "open", rules: [] })).map((run, at) =>
      at === 1 ? { ...run, seconds: () => mapped(run, break1) } : run,
    );
    const merged = await mergeSegments(killed, out());
    expect(merged).toMatchObject({ outcome: "failed", exitCode: 1, validity: { valid: false } });
    expect(merged.rules).toContainEqual(expect.objectContaining({ id: "code.single-use", breaches: 2 }));
  });

  it("is invalid below 95 % of all arrivals, even if each machine has enough of its own", async () => {
    const fewer = (line: SecondLine) => ({ ...line, started: Math.floor(line.started * 0.9) });
    const all = sound.map((run) => ({ ...run, seconds: () => mapped(run, fewer) }));
    const merged = await mergeSegments(all, out());
    expect(merged).toMatchObject({ exitCode: 3 });
    expect(merged.validity?.reasons[0]?.reason).toMatch(/of 240 iterations were started/);
  });
});

describe("a merge refuses", () => {
  const other = (change: Partial<LoadRecord>) => () => changed(record(2, change));
  it.each<[string, () => readonly AnyLoadRun[], RegExp]>([
    ["no record", () => [], /got none/],
    ["one record", () => sound.slice(0, 1), /got one/],
    ["a whole run", () => [...sound, withoutSegment()], /not of a segment/],
    ["a merged run", () => [...sound, mergedRun()], /already a merged run/],
    ["the same segment twice", () => [...sound, ...sound.slice(1, 2)], /segment 2 was given 2 times/],
    ["another run", () => changed(segment(2, { runId: "S" })), /--run-id is "S" in .* but "R" in/],
    ["another number of segments", () => changed(segment(2, { count: 4 })), /number of segments is "4"/],
    ["another start", () => changed(segment(2, { startAt: "2026-09-21T14:14:00.000Z" })), /--start-at is/],
    ["another seed", other({ seed: 8 }), /--seed is "8"/],
    ["another version", other({ tool: "9.9.9" }), /version of Touchstone is "9\.9\.9"/],
    [
      "another configuration",
      other({ fingerprint: { target: "bare server", segments: "3", profile: "x" } }),
      /profile is "x"/,
    ],
  ])("%s, and writes nothing", async (_, given, named) => {
    const directory = out();
    await expect(mergeSegments(given(), directory)).rejects.toMatchObject({ name: "ConfigurationError" });
    await expect(mergeSegments(given(), directory)).rejects.toThrow(named);
    expect(existsSync(directory)).toBe(false);
  });

  it("a folder that is in use", async () => {
    await expect(mergeSegments(sound, folder)).rejects.toThrow(/--out is .*, a folder that is not empty/);
  });

  const withoutSegment = (): AnyLoadRun => {
    const [run] = sound as [AnyLoadRun];
    const { segment: _, ...rest } = run.record;
    return { ...run, record: rest };
  };
  const mergedRun = (): AnyLoadRun => {
    const run = withoutSegment();
    return { ...run, record: { ...run.record, merged: { runId: "R", count: 3, startAt: "", machines: [] } } };
  };
});

const byName = (a: LoadRecord["endpoints"][number], b: LoadRecord["endpoints"][number]): number =>
  `${a.endpoint} ${a.outcome}` < `${b.endpoint} ${b.outcome}` ? -1 : 1;
const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);
