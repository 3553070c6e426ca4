import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import type { PushPorts } from "../../conformance/contract/push-ports.ts";
import { runnerClock } from "./clock.ts";
import type { LoadContext } from "./context.ts";
import { load } from "./load.ts";
import { profileFor } from "./testing/loads.ts";
import { head, secondOfRows } from "./testing/segments.ts";

const contextFor = (signal = new AbortController().signal): LoadContext => {
  const names = { name: "test", clients: [], profiles: [], replacedLimits: [] };
  return {
    target: { ...names, profile: profileFor("http://127.0.0.1:1"), limits: documentLimits },
    k6: { path: "/nowhere/k6", version: "1.8.1", from: "PATH", tried: [] },
    environment: {},
    clock: runnerClock,
    signal,
    tool: "test",
    runKey: "k",
  };
};
const rates = { rate: 1, durationMs: 10_000, warmUpMs: 0, seed: 1 };

it("a load whose folder is in use leaves no temporary folder behind", async () => {
  using folder = temporaryFolder();
  const temporary = path.join(folder.path, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const plan = { scenario: "token", shape: "constant", ...rates } as const;
  await expect(load(contextFor(), plan, folder.path)).rejects.toThrow(
    /--out is .*, a folder that is not empty/,
  );
  expect(readdirSync(temporary)).toEqual([]);
});

describe("a load that ends early leaves no open record", () => {
  const asked = { scenario: "token", shape: "breakpoint", ...rates } as const;
  const recordIn = (directory: string) =>
    JSON.parse(readFileSync(path.join(directory, "run.json"), "utf8")) as unknown;

  it("if k6 cannot be started", async () => {
    using folder = temporaryFolder();
    const out = path.join(folder.path, "run");
    await expect(load(contextFor(), asked, out)).rejects.toThrow("k6");
    const record = { state: "sealed", shape: "breakpoint", outcome: "harness-error", exitCode: 5 };
    expect(recordIn(out)).toMatchObject({ ...record, notes: [expect.stringContaining("k6")] });
  });

  it("if it is interrupted", async () => {
    using folder = temporaryFolder();
    const out = path.join(folder.path, "run");
    const interruption = new AbortController();
    const onPhase = (phase: string | undefined): void => {
      if (phase === "preflight") interruption.abort();
    };
    await expect(load({ ...contextFor(interruption.signal), onPhase }, asked, out)).rejects.toThrow(
      "aborted",
    );
    expect(recordIn(out)).toMatchObject({ state: "sealed", outcome: "interrupted", exitCode: 130 });
  });
});

it("a push load reads the receiver's journal while k6 runs, and all of it is in the record", async () => {
  using folder = temporaryFolder();
  const at = (name: string): string => path.join(folder.path, name);
  writeFileSync(
    at("rows.csv"),
    head + [0, 1, 2, 3].map((second) => secondOfRows(second, 6, () => 0.5)).join(""),
  );
  const program = `#!/bin/sh\ncat "${at("rows.csv")}"\n`;
  writeFileSync(at("k6"), program, { mode: 0o755 });
  let read = 0;
  const none = async () => {};
  const push = {
    receiver: {
      state: async () => ({ callbackUrl: "https://receiver.example/", last: 0, nowMs: 0 }),
      // One more line each time.
      pushes: async () => [{ kind: "cleared", atMs: 0, epoch: "e", n: (read += 1) }],
      plan: async () => ({ epoch: "e", last: 0 }),
      clear: none,
    },
    register: none,
    targetClock: { kind: "real", now: none, isMovedOnly: () => false },
    acknowledgedStatus: 200,
    maxWaitMs: 0,
    watchStalls: () => undefined,
    stalledMs: () => 0,
    stallsBy: () => [],
  } as unknown as PushPorts;
  const plan = { scenario: "push", shape: "constant", ...rates, isKnown: true } as const;
  const context = contextFor();
  const k6 = { ...context.k6, path: at("k6") };
  const http = { method: "POST", url: "http://127.0.0.1:1/events" };
  const hooks = { events: { trigger: { http } }, callback: { register: { http } } };
  const target = { ...context.target, profile: { ...context.target.profile, hooks } };
  const { state } = await load({ ...context, k6, target, push }, plan, at("run"));
  expect(state).toBe("sealed");
  expect(read).toBeGreaterThan(1);
  expect(readFileSync(at("run/pushes.jsonl"), "utf8").trim().split("\n")).toHaveLength(read);
});
