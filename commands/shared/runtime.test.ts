import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { processesOf } from "../../conformance/testing/reliability/processes.ts";
import { isRecentEnough, oldestNode, runOnBroughtNode } from "./runtime.ts";

it.each([
  [oldestNode.join("."), true],
  [`${oldestNode.join(".")}.0`, true],
  ["25.0.0", true],
  ["100.1.0", true],
  ["24.14.9", false],
  ["23.99.0", false],
  ["20.19.0", false],
  ["", false],
])("isRecentEnough of Node %s is %s", (version, expected) => {
  expect(isRecentEnough(version)).toBe(expected);
});

it("does not start another Node if this one is recent enough", async () => {
  expect(await runOnBroughtNode(["node", "nowhere.js"])).toBe(undefined);
});

describe.skipIf(process.platform !== "linux")("a command that runs on another Node", () => {
  const start = (parameters: readonly string[]) => {
    const mark = mkdtempSync(path.join(os.tmpdir(), "touchstone-starter-"));
    const here = (file: string) => JSON.stringify(path.join(import.meta.dirname, file));
    const script = `import(${here("runtime.ts")}).then(async ({ runOn }) => {
      process.exitCode = await runOn(process.execPath, ["node", ${here("../../cli.ts")}, ...${JSON.stringify(parameters)}]);
    })`;
    const child = spawn(process.execPath, ["-e", script], {
      env: { ...process.env, TMPDIR: mark },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return { child, mark, said: () => said, ended };
  };

  it("returns its exit code and output", async () => {
    const { ended, said, mark } = start(["rules", "code.nothing"]);
    expect(await ended).toBe(2);
    expect(said()).toContain("code.nothing");
    rmSync(mark, { recursive: true });
  });

  it("ends when the process that started it is killed with SIGKILL", async () => {
    const { child, said, mark } = start(["serve", "--port", "0", "--control-port", "0"]);
    while (!said().includes("http://")) await delay(20);
    expect(processesOf(mark).length).toBeGreaterThan(1);
    child.kill("SIGKILL");
    // If it did not end by itself, it would serve for ever.
    while (processesOf(mark).length > 0) await delay(50);
    rmSync(mark, { recursive: true });
  });
});
