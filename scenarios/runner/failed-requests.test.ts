import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { addedUp } from "../../conformance/contract/second-counts.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { root } from "../../conformance/testing/measure.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { startProgram } from "../../conformance/testing/start-cli.ts";
import { k6OfFile, loadHere, startFront } from "./testing/load-here.ts";

/** Loads whose requests fail: because the service asks for fewer, or because the load generator runs out of something. */

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

/** Virtual users take turns, so that each opens its connections within the load, however fast the machine is. */
const exhausting = "--rate 300 --duration 3s --scenario token --seed 1";

it("a load whose generator runs out of open files is not valid, and says so", async () => {
  writeFileSync(at("k6"), `#!/bin/sh\nulimit -n 64\nexec "${k6.path}" "$@"\n`, { mode: 0o755 });
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

const fewPorts = "ip link set lo up && echo 40000 40099 > /proc/sys/net/ipv4/ip_local_port_range";
const mayIsolate = spawnSync("unshare", ["-rn", "sh", "-c", fewPorts]).status === 0;

it.skipIf(!mayIsolate)(
  "a load whose generator runs out of local ports is not valid, and says so",
  async () => {
    const command = `${fewPorts} && exec "$@"`;
    const load = [
      process.execPath,
      path.join(root, "cli.ts"),
      "load",
      ...exhausting.split(" "),
      "--out",
      at("ports"),
    ];
    const started = startProgram("unshare", ["-rn", "sh", "-c", command, "sh", ...load], {
      env: { TOUCHSTONE_K6: k6.path },
    });
    expect(await started.closed).toBe(3);
    const { stdout, stderr } = started.said();
    expect(stdout).toContain("The load run is not valid: the load generator ran out of local ports");
    expect(stdout).toContain("net.ipv4.ip_local_port_range");
    expect(stderr).toMatch(/The load generator may be too small.*local ports are needed, and 100 allowed/);
  },
);
