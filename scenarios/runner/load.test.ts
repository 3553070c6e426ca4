import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { runnerClock } from "./clock.ts";
import { load } from "./load.ts";
import { profileFor } from "./testing/loads.ts";

it("a load whose folder is in use leaves no temporary folder behind", async () => {
  using folder = temporaryFolder();
  const temporary = path.join(folder.path, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const profile = profileFor("http://127.0.0.1:1");
  const names = { name: "test", clients: [], profiles: [], replacedLimits: [] };
  const context = {
    target: { ...names, profile, limits: documentLimits },
    k6: { path: "k6", version: "1.8.1", from: "PATH", tried: [] } as const,
    environment: {},
    clock: runnerClock,
    signal: new AbortController().signal,
    tool: "test",
    runKey: "k",
  };
  const rates = { rate: 1, durationMs: 1_000, warmUpMs: 0, seed: 1 };
  const plan = { scenario: "token", shape: "constant", ...rates } as const;
  await expect(load(context, plan, folder.path)).rejects.toThrow(/--out is .*, a folder that is not empty/);
  expect(readdirSync(temporary)).toEqual([]);
});
