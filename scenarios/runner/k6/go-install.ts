import os from "node:os";
import path from "node:path";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempDisposableSync } from "node:fs";
import { createInterface } from "node:readline";
import type { RunnerClock } from "../clock.ts";
import { killGroup } from "../watchdog.ts";
import type { InstallOptions } from "./archive.ts";

export interface GoOptions extends InstallOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Pick<RunnerClock, "nowMs" | "after">;
}

/** Not a literal in the call, because it is not a package that could be missing. */
const goTool = "go";
/** A longer build has hung: on two cores it takes about two minutes. */
const LONGEST_MS = 20 * 60_000;
/** Minimum interval of progress lines, so that a log stays readable. */
const TELL_EVERY_MS = 10_000;

/**
 * Builds k6 with the Go tool chain and passes the binary to `place`, which moves it to its destination. Returns the
 * reason if that fails. Throws only when the signal aborts.
 */
export const goInstall = async (
  options: GoOptions,
  place: (binary: string) => void,
): Promise<string | undefined> => {
  using target = mkdtempDisposableSync(path.join(options.folder, "go-install-"));
  const failure = await build(options, target.path);
  if (failure === undefined) place(path.join(target.path, "k6"));
  return failure;
};

const build = async (options: GoOptions, target: string): Promise<string | undefined> => {
  const { version, environment, clock, signal, onProgress } = options;
  signal?.throwIfAborted();
  onProgress(`building k6 ${version} with go install: once, about two minutes on two cores`);
  const startedMs = clock.nowMs();
  const go = spawn(goTool, ["install", "-v", `go.k6.io/k6@v${version}`], {
    cwd: target,
    env: goEnvironment(environment, target),
    stdio: ["ignore", "ignore", "pipe"],
    // In its own process group, so that the compilers started by go end with it.
    detached: true,
  });
  yieldTo(go);
  const stop = (): void => killGroup(go.pid, "SIGKILL");
  signal?.addEventListener("abort", stop, { once: true });
  const cancel = clock.after(LONGEST_MS, stop);
  let toldMs = startedMs;
  const complaints: string[] = [];
  createInterface({ input: go.stderr }).on("line", (line) => {
    if (!isProgress(line)) complaints.push(line.trim().slice(0, 300));
    if (clock.nowMs() - toldMs < TELL_EVERY_MS) return;
    toldMs = clock.nowMs();
    onProgress(`building k6: ${Math.round((toldMs - startedMs) / 1_000)} s so far`);
  });
  const failure = await ended(go);
  cancel();
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
  return failure === undefined
    ? undefined
    : [failure, complaints.slice(-3).join("; ")].filter(Boolean).join(": ");
};

/** With -v, go prints each module it downloads and each package it compiles; anything else is an error. */
const isProgress = (line: string): boolean => line.startsWith("go: downloading") || /^[\w.~/-]+$/.test(line);

const LOW_PRIORITY = 10;

/** Lowers the build's priority below everything else, above all the gate; the compilers started by go inherit it. */
const yieldTo = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) os.setPriority(pid, LOW_PRIORITY);
  } catch {
    // Without permission, the build merely keeps its priority.
  }
};

/**
 * The user's environment without what would change the build: modules are verified by the public checksum database,
 * whatever the user's own modules need. Every variable has a value, because an empty one would make Go use its own
 * settings file.
 */
const goEnvironment = (environment: NodeJS.ProcessEnv, target: string): NodeJS.ProcessEnv => {
  const { GOOS: _os, GOARCH: _arch, ...rest } = environment;
  return {
    ...rest,
    GOBIN: target,
    GOFLAGS: "-trimpath",
    GOWORK: "off",
    GO111MODULE: "on",
    CGO_ENABLED: "0",
    GOSUMDB: "sum.golang.org",
    GONOSUMDB: "none.invalid",
    GOPRIVATE: "none.invalid",
    GOINSECURE: "none.invalid",
  };
};

const ended = (child: ChildProcess): Promise<string | undefined> =>
  new Promise((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? "there is no go on PATH" : `go cannot be started (${error.message})`),
    );
    child.on("close", (code, signal) =>
      resolve(
        code === 0
          ? undefined
          : signal === null
            ? `go install ended with exit code ${code}`
            : `go install was ended by ${signal}`,
      ),
    );
  });
