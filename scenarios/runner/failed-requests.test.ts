import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { addedUp } from "../../conformance/contract/second-counts.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { k6OfFile, loadHere, startFront } from "./testing/load-here.ts";

/**
 * Loads whose requests fail: because the service asks for fewer, or because the load generator runs out of something.
 * What it says of other limits than open files is judged in own-limits.test.ts.
 */

const folder = folderOfFile();
const k6 = k6OfFile();
const at = (name: string): string => path.join(folder, name);
const causesIn = (rows: LoadRecord["endpoints"]) => addedUp(rows.map(({ causes = {} }) => causes));

it("a load says why requests failed, per endpoint and second, and that the service asked to slow down", async () => {
  // It passes on the first requests, and from then on refuses some of each kind.
  let count = 0;
  await using limiter = await startFront(folder, (pass, refuse) => {
    count += 1;
    if (count > 30 && count % 3 === 0) return refuse(429, { "retry-after": "1" });
    if (count > 30 && count % 10 === 1) return refuse(503, { "retry-after": "1" });
    if (count > 30 && count % 10 === 5) return refuse(503);
    return pass();
  });
  const flags = `load --scenario token --rate 60 --duration 3s --warm-up 0s --seed 1 --report html,markdown`;
  const asked = [...flags.split(" "), "--profile", limiter.profile, "--out", at("limited")];
  const env = { ...limiter.env, TOUCHSTONE_K6: k6.path };
  const { stdout } = await runHere([...asked, "--report-out", at("pages")], { env });
  const record = JSON.parse(readFileSync(at("limited/run.json"), "utf8")) as LoadRecord;
  const kinds = ["429", "503", "503 with Retry-After"];
  expect(Object.keys(causesIn(record.endpoints)).toSorted()).toEqual(kinds);
  const failed = record.endpoints.filter(({ outcome }) => outcome === "failed");
  const counts = failed.map(({ causes = {} }) => Object.values(causes).reduce((sum, one) => sum + one, 0));
  expect(counts).toEqual(failed.map(({ service }) => service.count));
  const seconds = readFileSync(at("limited/samples/seconds.jsonl"), "utf8").trim().split("\n");
  const lines = seconds.map((line) => JSON.parse(line) as { requests: Record<string, { causes?: object }> });
  expect(
    addedUp(lines.flatMap(({ requests }) => Object.values(requests).map((one) => ({ ...one.causes })))),
  ).toEqual(causesIn(record.endpoints));
  const pages = ["report.html", "summary.md"].map((name) => readFileSync(at(`pages/${name}`), "utf8"));
  for (const shown of [stdout, ...pages]) {
    expect(shown).toContain("The service asked to slow down.");
    for (const kind of kinds) expect(shown).toContain(kind);
  }
});

it("a load whose generator runs out of open files is not valid, and says so", async () => {
  writeFileSync(at("k6"), `#!/bin/sh\nulimit -n 64\nexec "${k6.path}" "$@"\n`, { mode: 0o755 });
  // Virtual users take turns, so that each opens its connections within the load, however fast the machine is.
  const exhausting = "--rate 300 --duration 3s --scenario token --seed 1";
  const { record, exitCode } = await loadHere(at("k6"), exhausting, at("files"));
  expect([exitCode, record.outcome, record.validity?.valid]).toEqual([3, "incomplete", false]);
  expect(record.achieved?.unsent).toEqual({ "open files": expect.any(Number) as number });
  expect(record.validity?.reasons[0]).toMatchObject({
    cause: "load generator",
    reason: expect.stringContaining("ran out of open files") as string,
    remedy: expect.stringContaining("ulimit -n") as string,
  });
  expect(causesIn(record.endpoints)).toEqual({});
});
