import os from "node:os";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { RunnerClock } from "../clock.ts";

export interface InstallOptions {
  readonly version: string;
  /** Where a temporary folder may be made, on the file system of the cache. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Pick<RunnerClock, "nowMs" | "after">;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (line: string) => void;
}

const goTool = "go";
/** Beyond this, something hangs: on two cores the build takes about two minutes. */
const LONGEST_MS = 20 * 60_000;
/** Progress is told so often at most, so that a log stays readable. */
const TELL_EVERY_MS = 10_000;

/**
 * Builds k6 with the Go tool chain and gives the binary to `place`, which moves it to where it belongs.
 * Answers with the reason where that cannot be done. Throws only when the signal says to stop.
 */
export const goInstall = async (
  options: InstallOptions,
  place: (binary: string) => void,
): Promise<string | undefined> => {
  const target = mkdtempSync(path.join(options.folder, "go-install-"));
  try {
    const failure = await build(options, target);
    if (failure === undefined) place(path.join(target, "k6"));
    return failure;
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
};

const build = async (options: InstallOptions, target: string): Promise<string | undefined> => {
  const { version, environment, clock, signal, onProgress } = options;
  signal?.throwIfAborted();
  onProgress(`building k6 ${version} with go install: once, about two minutes on two cores`);
  const startedMs = clock.nowMs();
  const go = spawn(goTool, ["install", "-v", `go.k6.io/k6@v${version}`], {
    cwd: target,
    env: goEnvironment(environment, target),
    stdio: ["ignore", "ignore", "pipe"],
    // A group of its own: the compilers that go starts are ended with it.
    detached: true,
  });
  yieldTo(go);
  const stop = (): void => killGroup(go);
  signal?.addEventListener("abort", stop, { once: true });
  const takeBack = clock.after(LONGEST_MS, stop);
  const said = watch(
    go.stderr,
    (counts) => {
      onProgress(
        `building k6: ${counts.compiled === 0 ? `${counts.downloaded} modules fetched` : `${counts.compiled} packages compiled`}, ${Math.round((clock.nowMs() - startedMs) / 1_000)} s`,
      );
    },
    clock,
  );
  const failure = await ended(go);
  takeBack();
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
  if (failure === undefined) return undefined;
  const last = said().slice(-3).join("; ");
  return last === "" ? failure : `${failure}: ${last}`;
};

const LOW_PRIORITY = 10;

/** Whatever else runs meanwhile, the gate above all, goes first; the compilers that go starts take over its priority. */
const yieldTo = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) os.setPriority(pid, LOW_PRIORITY);
  } catch {
    // Where this is not allowed, the build is merely less polite.
  }
};

/**
 * The user's environment, but for what would change the build: modules are checked against the
 * public checksum database, whatever the user's own modules need. An empty variable would let Go
 * fall back to its own settings file, so every one of them has a value.
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

interface BuildCounts {
  downloaded: number;
  compiled: number;
}

/** Counts what go tells, tells it on now and then, and keeps what is neither: the complaints. */
const watch = (
  stream: Readable,
  tell: (counts: Readonly<BuildCounts>) => void,
  clock: Pick<RunnerClock, "nowMs">,
): (() => readonly string[]) => {
  const counts = { downloaded: 0, compiled: 0 };
  const complaints: string[] = [];
  let toldMs = clock.nowMs();
  createInterface({ input: stream }).on("line", (line) => {
    if (line.startsWith("go: downloading")) counts.downloaded += 1;
    // With -v, go names each package by its path as it compiles it.
    else if (/^[\w.~/-]+$/.test(line)) counts.compiled += 1;
    else complaints.push(line.trim().slice(0, 300));
    if (complaints.length > 20) complaints.shift();
    if (clock.nowMs() - toldMs < TELL_EVERY_MS) return;
    toldMs = clock.nowMs();
    tell(counts);
  });
  return () => complaints;
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

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
};
