import { execFile, spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../../../conformance/contract/text.ts";
import { passingFolder, userFolder } from "../../../conformance/files/folders.ts";
import { DatabaseSync } from "node:sqlite";
import type { RunnerClock } from "../clock.ts";
import os from "node:os";
import { createInterface } from "node:readline";
import { killGroup } from "../watchdog.ts";

/** Where k6 publishes its releases: an archive per platform, with a file of checksums. */
export const releases = "https://github.com/grafana/k6/releases/download";

const archives: Readonly<
  Record<string, { readonly platform: string; readonly ending: string; readonly unpack: readonly string[] }>
> = {
  linux: { platform: "linux", ending: "tar.gz", unpack: ["tar", "-xzf"] },
  darwin: { platform: "macos", ending: "zip", unpack: ["unzip", "-q"] },
};
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** What every way to install k6 needs. */
export interface InstallOptions {
  readonly version: string;
  /** Where temporary folders may be created, on the cache's file system. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (line: string) => void;
}

export interface ArchiveOptions extends InstallOptions {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Base address of the releases; differs only in tests. */
  readonly baseUrl: string;
}

/**
 * Downloads the release archive, compares it with its published checksum, then unpacks it and passes the binary to
 * `place`, which moves it to its destination. Returns the reason if that fails. Throws only when the signal aborts.
 */
export const fromArchive = async (
  options: ArchiveOptions,
  place: (binary: string) => void,
): Promise<string | undefined> => {
  const { version, folder, platform, architecture, baseUrl, signal, onProgress } = options;
  const archive = archives[platform];
  const processor = architectures[architecture];
  if (archive === undefined || processor === undefined)
    return `the project publishes no usable k6 for ${platform} on ${architecture}`;
  const name = `k6-v${version}-${archive.platform}-${processor}.${archive.ending}`;
  using target = passingFolder(path.join(folder, "archive-"));
  try {
    onProgress(`downloading ${name}`);
    const base = `${baseUrl}/v${version}`;
    const checksums = (await download(`${base}/k6-v${version}-checksums.txt`, signal)).toString("utf8");
    const wanted = checksumOf(checksums, name);
    if (wanted === undefined) return `the published checksums do not name ${name}`;
    const bytes = await download(`${base}/${name}`, signal);
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== wanted) return `${name} has the SHA-256 ${found}; the published one is ${wanted}`;
    writeFileSync(path.join(target.path, name), bytes);
    const [program = "", ...flags] = archive.unpack;
    await promisify(execFile)(program, [...flags, name], { cwd: target.path, signal });
    const binary = readdirSync(target.path, { recursive: true, withFileTypes: true }).find(
      (entry) => entry.isFile() && entry.name === "k6",
    );
    if (binary === undefined) return "the archive has no k6";
    const file = path.join(binary.parentPath, binary.name);
    chmodSync(file, 0o755);
    place(file);
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    return errorMessage(error);
  }
};

/** A line in sha256sum format: hash, spaces, name. */
const checksumOf = (checksums: string, name: string): string | undefined =>
  checksums
    .split("\n")
    .map((line) => /^([0-9a-f]{64})\s+\*?(\S+)\s*$/i.exec(line))
    .find((match) => match?.[2] === name)?.[1]
    ?.toLowerCase();

const download = async (address: string, signal: AbortSignal | undefined): Promise<Buffer> => {
  let answer: Response;
  try {
    answer = await fetch(address, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new Error(`${address} cannot be reached (${errorMessage(cause)})`, { cause: error });
  }
  if (!answer.ok) throw new Error(`${address} answered with status ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
};

/**
 * The user's folder for reproducible files: TOUCHSTONE_CACHE, otherwise according to the XDG base directory
 * specification.
 */
export const cacheFolder = (environment: NodeJS.ProcessEnv): string => {
  const { TOUCHSTONE_CACHE } = environment;
  return TOUCHSTONE_CACHE === undefined || TOUCHSTONE_CACHE === ""
    ? userFolder(environment, "XDG_CACHE_HOME")
    : path.resolve(TOUCHSTONE_CACHE);
};

const ASK_AGAIN_MS = 250;
const SQLITE_BUSY = 5;

interface LockOptions {
  readonly clock: Pick<RunnerClock, "sleep">;
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait: () => void;
}

/**
 * Runs a task while no other task, in this process or another, holds the same lock. The lock is SQLite's on an empty
 * database: the kernel releases it when its process ends, however it ends, so that a killed build needs no clean-up.
 */
export const withLock = async <T>(
  file: string,
  { clock, signal, onWait }: LockOptions,
  task: () => Promise<T>,
): Promise<T> => {
  mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    for (let waits = 0; !tryLock(database); waits += 1) {
      if (waits === 0) onWait();
      await clock.sleep(ASK_AGAIN_MS, signal);
    }
    return await task();
  } finally {
    database.close();
  }
};

const tryLock = (database: DatabaseSync): boolean => {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
};

interface GoOptions extends InstallOptions {
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
  using target = passingFolder(path.join(options.folder, "go-install-"));
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
