import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The k6 to install: the newest version on the Go module proxy. */
export const installedVersion = "1.8.1";

/** The oldest k6 that runs the scripts: sample metadata and flags are stable from 1.0 on. */
const OLDEST_MAJOR = 1;
const ANSWER_WITHIN_MS = 20_000;

export type Examined =
  | { readonly usable: true; readonly version: string }
  | { readonly usable: false; readonly reason: string };

/** Runs `FILE version` and reads its answer, such as `k6 v1.8.1 (go1.26.8, linux/amd64)`. */
export const examine = async (file: string, signal?: AbortSignal): Promise<Examined> => {
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
