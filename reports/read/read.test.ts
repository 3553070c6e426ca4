import { appendFileSync, cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { EndpointRow } from "../../conformance/contract/load-record.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { recordOf } from "../testing/fixture.ts";
import { readGateRun, readRun, type LoadRun } from "./index.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { problemOf } from "../../conformance/testing/errors.ts";
import { schemaOf } from "../schemas.ts";
import { Ajv } from "ajv";
import { schemaNames, type SchemaName } from "../formats.ts";

const home = folderOfFile();
let made = 0;
beforeAll(() => {
  writeLoadRun(path.join(home, "load"), { seed: 3, seconds: 6, requests: 600, breaches: 2, pushes: 8 });
  writeLoadRun(path.join(home, "short"), { seed: 3, seconds: 2, requests: 40, breaches: 2 });
  writeGateRun(path.join(home, "gate"), { seed: 3, exchanges: 12, pushes: 5, failing: ["code.single-use"] });
});
/** A copy of a run, in which run.json may say something else. */
const copyOf = (run: "gate" | "load" | "short", change: Record<string, unknown> = {}): string => {
  const directory = path.join(home, `copy-${(made += 1)}`);
  cpSync(path.join(home, run), directory, { recursive: true });
  const file = path.join(directory, "run.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...change }));
  return directory;
};

const percentiles = ({ endpoint, outcome, service, response }: EndpointRow): unknown => [
  endpoint,
  outcome,
  ...[service, response].map(({ count, p50Ms, p95Ms, p99Ms }) => ({ count, p50Ms, p95Ms, p99Ms })),
];

const readLoad = async (directory: string): Promise<LoadRun> => {
  const run = await readRun(directory);
  if (run.kind !== "load") throw new Error("it is no load run");
  return run;
};

describe("readRun", () => {
  it("opens a gate run with its exchanges and pushes", async () => {
    const run = await readRun(path.join(home, "gate"));
    if (run.kind !== "conform") throw new Error("it is no gate run");
    expect(run.record).toMatchObject({ state: "sealed", outcome: "failed" });
    expect((await Array.fromAsync(run.exchanges())).map(({ n }) => n)).toEqual(
      Array.from({ length: 12 }, (_, at) => at + 1),
    );
    expect((await Array.fromAsync(run.pushes())).filter(({ kind }) => kind === "push")).toHaveLength(5);
  });

  it("opens a load run with its seconds, histograms and breaches", async () => {
    const run = await readLoad(path.join(home, "load"));
    expect(run.record).toMatchObject({ state: "sealed", scenario: "mixed" });
    expect((await Array.fromAsync(run.seconds())).map(({ second }) => second)).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await Array.fromAsync(run.breaches())).map(({ rule }) => rule)).toEqual([
      "code.single-use",
      "code.single-use",
    ]);
    const filtered = await Array.fromAsync(run.histograms({ outcome: "granted", kind: "service" }));
    const histograms = filtered.filter(({ endpoint }) => endpoint === "list");
    expect(histograms.map(({ second }) => second)).toEqual([0, 1, 2, 3, 4, 5]);
    const granted = run.record.endpoints.find((row) => row.endpoint === "list" && row.outcome === "granted");
    const counted = histograms.reduce((sum, { histogram }) => sum + histogram.totalCount, 0);
    expect(counted).toBe(granted?.service.count);
  });

  it("reconstructs an open load run from its files", async () => {
    const whole = await readLoad(path.join(home, "load"));
    const cutOff = { state: "open", endpoints: [], breaches: [], warmUpMs: 0 };
    const open = await readLoad(copyOf("load", cutOff));
    // The log keeps the greatest and the smallest latency no more exactly than the others.
    expect(open.record.endpoints.map(percentiles)).toEqual(whole.record.endpoints.map(percentiles));
    expect(open.record.breaches).toHaveLength(1);
    const afterWarmUp = await readLoad(copyOf("load", { ...cutOff, warmUpMs: 2_000 }));
    const counts = [open, afterWarmUp].map(({ record }) => record.endpoints[0]?.service.count ?? 0);
    expect((counts[1] ?? 0) / (counts[0] ?? 0)).toBeCloseTo(4 / 6, 1);
    expect(open.record.achieved).toMatchObject({ seconds: 6, requests: whole.record.achieved?.requests });
  });
});

describe("a directory that holds no readable record", () => {
  it.each([
    ["missing", "none", "it does not exist"],
    ["a file", path.join("gate", "run.json"), "it is a file"],
    ["empty", "empty", "it has no run.json"],
  ])("is refused if it is %s", async (_, name, why) => {
    mkdirSync(path.join(home, "empty"), { recursive: true });
    const directory = path.join(home, name);
    expect(await problemOf(() => readRun(directory))).toBe(
      `"${directory}" is not a run directory: ${why}; give the folder that \`touchstone conform\` or \`touchstone load\` printed`,
    );
  });

  it.each(["gate", "load"] as const)("is refused if another version wrote it (%s)", async (run) => {
    for (const version of [2, 4])
      expect(await problemOf(() => readRun(copyOf(run, { version, brandNew: true })))).toMatch(
        new RegExp(`is a record of version ${version}; this Touchstone reads version 3 only: [^\\n]+$`),
      );
  });

  it.each([
    ["truncated", '{"version":3,"comm', "run.json is damaged: it is not JSON"],
    ["incomplete", '{"version":3,"command":"conform"}', "must have required property"],
    ["a list", "[]", "is no record of Touchstone"],
    ["of another program", '{"name":"x"}', "is no record of Touchstone"],
    [
      "without its judged items",
      JSON.stringify({ ...recordOf(), cases: undefined }),
      "must have required property 'cases'",
    ],
    [
      "of an unknown command",
      '{"version":3,"command":"paint"}',
      'is a record of "paint"; accepted are records of `conform` and `load`',
    ],
  ])("is refused if run.json is %s", async (_, text, reason) => {
    const directory = copyOf("gate");
    writeFileSync(path.join(directory, "run.json"), text);
    expect(await problemOf(() => readRun(directory))).toContain(reason);
  });

  it("is refused if the other kind of run is required", async () => {
    expect(await problemOf(() => readGateRun(path.join(home, "load")))).toContain("is a load run");
  });

  it.each([
    ["seconds.jsonl", (run: LoadRun) => Array.fromAsync(run.seconds())],
    ["latency.hlog", (run: LoadRun) => Array.fromAsync(run.histograms())],
  ])("is reported with the damaged line of %s", async (name, read) => {
    const directory = copyOf("load");
    const file = path.join(directory, "samples", name);
    const lines = readFileSync(file, "utf8").split("\n");
    lines[4] = "nonsense";
    writeFileSync(file, lines.join("\n"));
    const run = await readLoad(directory);
    expect(await problemOf(() => read(run))).toContain(`${name}, line 5 is damaged`);
  });

  it("is reported with the damaged line of the receiver's journal", async () => {
    const directory = copyOf("gate");
    appendFileSync(path.join(directory, "pushes.jsonl"), '{"n":7,"kind":"else"}\n');
    const run = await readRun(directory);
    expect(await problemOf(() => Array.fromAsync(run.pushes()))).toMatch(/pushes\.jsonl, line 7 is damaged/);
  });
});

describe("a run that was cut off", () => {
  it.each([
    ["gate", "rules.jsonl", 1_193],
    ["gate", "exchanges.jsonl", 383],
    ["gate", "pushes.jsonl", 293],
    ["short", "breaches.jsonl", 97],
    ["short", "samples/seconds.jsonl", 53],
    ["short", "samples/latency.hlog", 181],
  ] as const)("(%s) is readable up to the cut, at any byte of %s", async (kind, name, step) => {
    const directory = copyOf(kind, { state: "open" });
    const file = path.join(directory, name);
    const bytes = readFileSync(file);
    const whole = await everything(directory);
    for (let size = bytes.length; size >= 0; size -= step) {
      truncateSync(file, size);
      const got = await everything(directory);
      for (const [at, values] of got.entries())
        expect(whole[at]?.slice(0, values.length), `${name} cut at ${size}`).toEqual(values);
      const lines = bytes.subarray(0, size).toString("latin1").split("\n").length - 1;
      const headers = name.endsWith(".hlog") ? 2 : 0;
      // A line that only lacks its newline is already complete.
      const counts = [Math.max(0, lines - headers), Math.max(0, lines + 1 - headers)];
      expect(counts, `${name} cut at ${size}`).toContain(got[order[kind].indexOf(name)]?.length);
    }
  });

  it("tells the promises that broke until then, of a load", async () => {
    const { record } = await readLoad(
      copyOf("load", { state: "open", outcome: undefined, rules: [], breaches: [] }),
    );
    const whole = (await readLoad(path.join(home, "load"))).record;
    const broken = whole.rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
    expect(broken).not.toEqual([]);
    expect(record.rules.map(({ id }) => id)).toEqual(broken);
    expect(record.rules.every(({ checks, breaches }) => breaches > 0 && checks === breaches)).toBe(true);
    expect(record.breaches.map(({ rule }) => rule)).toEqual(broken);
  });

  const order = {
    gate: ["rules.jsonl", "exchanges.jsonl", "pushes.jsonl"],
    short: ["samples/seconds.jsonl", "breaches.jsonl", "samples/latency.hlog"],
  } as const satisfies Record<string, readonly string[]> as Readonly<
    Record<"gate" | "short", readonly string[]>
  >;

  const everything = async (directory: string): Promise<unknown[][]> => {
    const run = await readRun(directory);
    if (run.kind === "conform")
      return [
        run.record.rules.map(({ id }) => id),
        await Array.fromAsync(run.exchanges()),
        (await Array.fromAsync(run.pushes())).map(({ n }) => n),
      ];
    const histograms = (await Array.fromAsync(run.histograms())).map(
      ({ endpoint, outcome, kind, second, histogram }) =>
        `${endpoint} ${outcome} ${kind} ${second} ${histogram.totalCount}`,
    );
    return [await Array.fromAsync(run.seconds()), await Array.fromAsync(run.breaches()), histograms];
  };
});

const schemasHome = folderOfFile();
beforeAll(() => {
  writeGateRun(path.join(schemasHome, "conform"), { seed: 1, exchanges: 3, failing: ["code.single-use"] });
  writeLoadRun(path.join(schemasHome, "load"), { seed: 1, seconds: 2, requests: 60, breaches: 1 });
});
/** A validator as strict as others would use: unknown keywords are mistakes. */
const validator = (name: SchemaName) =>
  new Ajv({ strict: true, strictTypes: false, formats: { "date-time": true } }).compile(schemaOf(name));

const lines = (file: string): unknown[] =>
  readFileSync(path.join(schemasHome, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

it.each(schemaNames)("a strict validator accepts the published schema %s", (name) => {
  expect(validator(name)({})).toBe(false);
});

it.each([
  [
    "conform",
    () => [JSON.parse(readFileSync(path.join(schemasHome, "conform", "run.json"), "utf8")) as unknown],
  ],
  ["load", () => [JSON.parse(readFileSync(path.join(schemasHome, "load", "run.json"), "utf8")) as unknown]],
  ["exchange", () => lines("conform/exchanges.jsonl")],
  ["rule", () => lines("conform/rules.jsonl")],
  ["second", () => lines("load/samples/seconds.jsonl")],
  ["breach", () => lines("load/breaches.jsonl")],
] as const)("written records are valid under the schema %s", (name, values) => {
  const validate = validator(name);
  const found = values();
  expect(found.length).toBeGreaterThan(0);
  for (const value of found) expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
});
