import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { beforeAll, expect, it } from "vitest";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { schemaNames, type SchemaName } from "../formats.ts";
import { schemaOf } from "./index.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const home = folderOfFile();
beforeAll(() => {
  writeGateRun(path.join(home, "conform"), { seed: 1, exchanges: 3, failing: ["code.single-use"] });
  writeLoadRun(path.join(home, "load"), { seed: 1, seconds: 2, requests: 60, breaches: 1 });
});
/** A validator as strict as others would use: unknown keywords are mistakes. */
const validator = (name: SchemaName) =>
  new Ajv({ strict: true, strictTypes: false, formats: { "date-time": true } }).compile(schemaOf(name));

const lines = (file: string): unknown[] =>
  readFileSync(path.join(home, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

it.each(schemaNames)("a strict validator accepts the published schema %s", (name) => {
  expect(validator(name)({})).toBe(false);
});

it.each([
  ["conform", () => [JSON.parse(readFileSync(path.join(home, "conform", "run.json"), "utf8")) as unknown]],
  ["load", () => [JSON.parse(readFileSync(path.join(home, "load", "run.json"), "utf8")) as unknown]],
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
