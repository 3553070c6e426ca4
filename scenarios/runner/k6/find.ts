import { accessSync, constants, renameSync, statSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../../../conformance/contract/files.ts";
import { makeFolders } from "../../../conformance/files/run-directory.ts";
import type { RunnerClock } from "../clock.ts";
import { fromArchive, releases, type ArchiveOptions, cacheFolder, withLock, goInstall } from "./archive.ts";
import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface FoundK6 {
  readonly path: string;
  readonly version: string;
  readonly from: "TOUCHSTONE_K6" | "PATH" | "cache" | "go install" | "release archive";
  /** Candidates tried before it, and why they were rejected. */
  readonly tried: readonly Attempt[];
}

export interface FindOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: RunnerClock;
  /** Receives progress lines while k6 is being installed, which happens once and takes minutes. */
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** For tests: the location of the releases, and the platform. */
  readonly archives?: Pick<ArchiveOptions, "baseUrl" | "platform" | "architecture">;
}

/**
 * Finds or installs k6: TOUCHSTONE_K6, then PATH, then the cache, then `go install`, then the project's release
 * archive. Throws ConfigurationError if TOUCHSTONE_K6 names anything but a usable k6, or if there is none and none can
 * be installed.
 */
export const findK6 = async (options: FindOptions): Promise<FoundK6> => {
  const { found, tried } = await look(options);
  return found ?? install(options, tried);
};

/** Which k6 would be used; if there is none, what was tried and what a load run would do. */
export type K6Status =
  | { readonly found: FoundK6 }
  | { readonly found: undefined; readonly tried: readonly Attempt[]; readonly plan: string };

/** Like findK6, but installs nothing. */
export const k6Status = async (options: Pick<FindOptions, "environment" | "signal">): Promise<K6Status> => {
  const { found, tried } = await look(options);
  if (found !== undefined) return { found };
  const go = onPath("go", options.environment)[0];
  return {
    found,
    tried,
    plan:
      go === undefined
        ? `the first load run downloads the release archive of k6 ${installedVersion}`
        : `the first load run builds k6 ${installedVersion} with ${go}, which takes about two minutes, once`,
  };
};

const look = async ({ environment, signal }: Pick<FindOptions, "environment" | "signal">) => {
  const named = environment["TOUCHSTONE_K6"];
  if (named !== undefined && named !== "") {
    const file = path.resolve(named);
    const examined = await examine(file, signal);
    if (!examined.usable)
      throw new ConfigurationError([
        `TOUCHSTONE_K6 is "${named}", which cannot be used (${examined.reason}); give the path of k6 1.0 or later, or unset it`,
      ]);
    const { version } = examined;
    return { found: { path: file, version, from: "TOUCHSTONE_K6", tried: [] } as const, tried: [] };
  }
  const tried: Attempt[] = [{ where: "TOUCHSTONE_K6", outcome: "not set" }];
  const places = onPath("k6", environment);
  if (places.length === 0) tried.push({ where: "PATH", outcome: "no k6 on it" });
  for (const [from, place] of [
    ...places.map((place) => ["PATH", place] as const),
    ["cache", cachedFile(environment)] as const,
  ]) {
    const examined = await examine(place, signal);
    if (examined.usable) return { found: { path: place, version: examined.version, from, tried }, tried };
    tried.push({ where: `${from} (${place})`, outcome: examined.reason });
  }
  return { found: undefined, tried };
};

const cachedFile = (environment: NodeJS.ProcessEnv): string =>
  path.join(cacheFolder(environment), "k6", `v${installedVersion}`, "k6");

const onPath = (name: string, environment: NodeJS.ProcessEnv): readonly string[] =>
  (environment["PATH"] ?? "")
    .split(path.delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => path.resolve(folder, name))
    .filter(isProgram);

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

const install = async (options: FindOptions, tried: readonly Attempt[]): Promise<FoundK6> => {
  const { environment, clock, signal, onProgress = () => undefined } = options;
  const file = cachedFile(environment);
  const folder = path.dirname(file);
  try {
    makeFolders(folder);
  } catch (error) {
    throw k6Missing([
      ...tried,
      {
        where: folder,
        outcome: `cannot be written (${fileReason(error)}); set TOUCHSTONE_CACHE to another folder`,
      },
    ]);
  }
  const onWait = (): void => onProgress("waiting for another Touchstone that is installing k6");
  return withLock(path.join(folder, "lock"), { clock, signal, onWait }, async () => {
    // Another process may have installed it meanwhile.
    const early = await examine(file, signal);
    if (early.usable) return { path: file, version: early.version, from: "cache", tried };
    const attempts = [...tried];
    const base = { version: installedVersion, folder, signal, onProgress };
    const place = (binary: string): void => renameSync(binary, file);
    const { platform, arch: architecture } = process;
    const archives = options.archives ?? { baseUrl: releases, platform, architecture };
    const ways = [
      ["go install", () => goInstall({ ...base, environment, clock }, place)],
      ["release archive", () => fromArchive({ ...base, ...archives }, place)],
    ] as const;
    for (const [from, get] of ways) {
      const failure = await get();
      const examined = failure === undefined ? await examine(file, signal) : undefined;
      if (examined?.usable === true) {
        onProgress(`k6 ${examined.version} is ready (${from})`);
        return { path: file, version: examined.version, from, tried: attempts };
      }
      attempts.push({ where: from, outcome: failure ?? examined?.reason ?? "it produced nothing" });
    }
    throw k6Missing(attempts);
  });
};

export const k6Missing = (tried: readonly Attempt[]): ConfigurationError =>
  new ConfigurationError([
    "no k6 (1.0 or later) was found, and none could be installed:",
    ...tried.map(({ where, outcome }) => `  ${where}: ${outcome}`),
    "Install k6 (https://grafana.com/docs/k6/latest/set-up/install-k6/) so that it is on PATH, or name it in TOUCHSTONE_K6; with Go on PATH, Touchstone builds one itself.",
  ]);

/** A place searched for k6, or a way tried to install it, and the result. */
interface Attempt {
  readonly where: string;
  readonly outcome: string;
}

/** The k6 to install: the newest version on the Go module proxy. */
export const installedVersion = "1.8.1";

/** The oldest k6 that runs the scripts: sample metadata and flags are stable from 1.0 on. */
const OLDEST_MAJOR = 1;
const ANSWER_WITHIN_MS = 20_000;

type Examined =
  | { readonly usable: true; readonly version: string }
  | { readonly usable: false; readonly reason: string };

/** Runs `FILE version` and reads its answer, such as `k6 v1.8.1 (go1.26.8, linux/amd64)`. */
const examine = async (file: string, signal?: AbortSignal): Promise<Examined> => {
  try {
    const options = { timeout: ANSWER_WITHIN_MS, ...(signal && { signal }) };
    const { stdout } = await promisify(execFile)(file, ["version"], options);
    return judgeVersion(stdout);
  } catch (error) {
    signal?.throwIfAborted();
    return { usable: false, reason: reasonOf(error as Error) };
  }
};

export const judgeVersion = (printed: string): Examined => {
  const [, version, major] = /^k6(?:\.exe)?\s+v?((\d+)\.\d+\.\d+[^\s(]*)/m.exec(printed) ?? [];
  if (version === undefined)
    return { usable: false, reason: `"version" printed ${JSON.stringify(printed.slice(0, 80).trim())}` };
  if (Number(major) < OLDEST_MAJOR)
    return { usable: false, reason: `it is version ${version}; 1.0 or later is needed` };
  return { usable: true, version };
};

export const isAtLeast = (version: string, major: number, minor: number): boolean => {
  const [itsMajor = 0, itsMinor = 0] = version.split(".").map(Number);
  return itsMajor > major || (itsMajor === major && itsMinor >= minor);
};

const reasonOf = (error: Error & { readonly code?: unknown; readonly killed?: boolean }): string => {
  if (error.killed === true) return `"version" did not answer within ${ANSWER_WITHIN_MS / 1_000} s`;
  switch (error.code) {
    case "ENOENT":
    case "ENOTDIR":
      return "there is no such file";
    case "EACCES":
      return "it is not executable";
    case "ENOEXEC":
      return "it is not a program for this machine";
    default:
      return typeof error.code === "number" ? `"version" ended with exit code ${error.code}` : error.message;
  }
};
