import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { root, runCli } from "../../conformance/testing/measure.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { k6ForTests, k6WithinMs } from "./testing/k6.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/** `touchstone load` as its users meet it: the real k6, the fake and Touchstone each in its own process. */

const folder = folderOfFile();
let withK6: Record<string, string>;
beforeAll(async () => {
  withK6 = { TOUCHSTONE_K6: (await k6ForTests()).path };
}, k6WithinMs);
let files = 0;
const fresh = (): string => path.join(folder, `run-${(files += 1)}`);

const load = async (parameters: readonly string[], runs: typeof runHere = runHere) => {
  const run = await runs(["load", "--out", fresh(), ...parameters], { env: withK6 });
  return { ...run, record: () => JSON.parse(run.stdout) as LoadRecord & { readonly run: string } };
};

describe.concurrent("a load on the sound fake", () => {
  // The other scenarios are the halves of "mixed"; that they raise no false alarm, load-detection.test.ts shows as well.
  it.each(["mixed", "push"])(
    "%s: about the requests asked for, every rule looked at, none broken",
    async (scenario) => {
      const run = await load(["--scenario", scenario, "--rate", "60", "--duration", "4s", "--json"]);
      const { outcome, achieved, rules, validity } = run.record();
      expect(rules.filter(({ breaches }) => breaches > 0)).toEqual([]);
      expect(rules.reduce((sum, { checks }) => sum + checks, 0)).toBeGreaterThan(0);
      expect(outcome).toBe(validity?.valid === false ? "incomplete" : "passed");
      // A machine that is busy with something else cannot keep a schedule, and the record says so.
      if (validity?.valid === false) return;
      expect((achieved?.requests ?? 0) / 240).toBeGreaterThan(0.7);
      expect((achieved?.requests ?? 0) / 240).toBeLessThan(1.4);
    },
  );
});

describe("a load on a service that breaks a promise", () => {
  it("exit code 1, the rule's own id, the proof with its secrets masked, and a record that tells the same", async () => {
    const run = await load(
      "--scenario token --rate 150 --duration 4s --behaviour code-race-of-twenty-milliseconds --json".split(
        " ",
      ),
      runCli,
    );
    expect(run.exitCode).toBe(1);
    const { rules, breaches, run: directory } = run.record();
    expect(rules.find(({ id }) => id === "code.single-use-under-race")?.breaches).toBeGreaterThan(0);
    const breach = breaches.find(({ rule }) => rule === "code.single-use-under-race");
    expect(breach?.exchanges.length).toBeGreaterThanOrEqual(2);
    expect(breach?.askedRate).toBeGreaterThan(0);
    expect(JSON.stringify(breach)).toContain("‹");
    const written = JSON.parse(readFileSync(path.join(directory, "run.json"), "utf8")) as LoadRecord;
    expect(written).toMatchObject({ state: "sealed", outcome: "failed", exitCode: 1 });
  });
});

it("a k6 that is none, and one that is too old, are named with exit code 2", async () => {
  const old = path.join(folder, "old");
  mkdirSync(old, { recursive: true });
  const k6 = path.join(old, "k6");
  writeFileSync(k6, "#!/bin/sh\necho 'k6 v0.49.0 (go1.21, linux/amd64)'\n");
  chmodSync(k6, 0o755);
  for (const [named, reason] of [
    [path.join(folder, "nothing"), /TOUCHSTONE_K6 is ".*nothing".*cannot be used/],
    [k6, /TOUCHSTONE_K6 is ".*k6".*0\.49/],
  ] as const) {
    const run = await runHere(["load", "--out", fresh(), "--duration", "2s"], {
      env: { TOUCHSTONE_K6: named },
    });
    expect(run.stderr).toMatch(reason);
    expect(run.exitCode).toBe(2);
  }
});

describe("a load that is cut short", () => {
  const started = (scenario: string, out: string) =>
    spawn(
      process.execPath,
      [
        path.join(root, "cli.ts"),
        "load",
        "--scenario",
        scenario,
        "--rate",
        "50",
        "--duration",
        "60s",
        "--out",
        out,
      ],
      { env: { ...process.env, ...withK6 }, stdio: ["ignore", "ignore", "pipe"] },
    );
  /** Once a plain line of progress is out, seconds of the load are in the record. */
  const underWay = (child: ReturnType<typeof started>) =>
    new Promise<void>((resolve, reject) => {
      let said = "";
      child.stderr?.on("data", (text) => {
        said += String(text);
        if (said.includes("requests/s")) resolve();
      });
      child.once("exit", () => reject(new Error(said)));
    });

  it("Ctrl-C ramps it down and seals the record", async () => {
    const out = fresh();
    const child = started("token", out);
    await underWay(child);
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).toBe(130);
    const record = JSON.parse(readFileSync(path.join(out, "run.json"), "utf8")) as LoadRecord;
    expect(record).toMatchObject({ state: "sealed", outcome: "interrupted" });
    expect(record.achieved?.requests).toBeGreaterThan(50);
  });
});

it.concurrent.each([
  [
    "the gate",
    ["--only", "push.schedule"],
    "judging ",
    /Interrupted in the gate; .*\/gate keeps.*conform --resume/,
  ],
  [
    "the load's preflight",
    ["--only", "code.unknown"],
    "preflight",
    /Interrupted before the load; .*\/gate is kept.*load .*--duration 30s/,
  ],
  [
    "the load",
    ["--only", "code.unknown"],
    "requests/s",
    /Interrupted in the load; .*\/gate and .*\/load are kept.*load .*--duration 30s/,
  ],
] as const)("Ctrl-C in %s of a run says what is kept, and how to go on", async (_, rules, phase, says) => {
  const asked = ["run", ...rules, "--rate", "20", "--duration", "30s", "--out", fresh()];
  const child = spawn(process.execPath, [path.join(root, "cli.ts"), ...asked], {
    env: { ...process.env, ...withK6 },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text) => {
    const before = said;
    said += String(text);
    if (!before.includes(phase) && said.includes(phase)) child.kill("SIGINT");
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, said }).toEqual({ code: 130, said: expect.stringMatching(says) as string });
});
