import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { codeOf, fileMode } from "../contract/files.ts";

/** Locks held by this process: after a restart in a container its pid may be that of the previous process. */
const held = new Set<string>();

/**
 * Takes a lock file, which names the process that holds it; the returned function releases it. Takes over the lock of a
 * process that is gone, for example after SIGKILL. Throws the result of `inUse` if a living process holds it, and
 * Node's error if the file cannot be written.
 */
export const takeLock = (file: string, inUse: (pid: number) => Error): (() => void) => {
  const key = path.resolve(file);
  try {
    writeFileSync(file, String(process.pid), { flag: "wx", mode: fileMode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const owner = Number(readFileSync(file, "utf8"));
    if (owner === process.pid ? held.has(key) : isRunning(owner)) throw inUse(owner);
    writeFileSync(file, String(process.pid));
  }
  held.add(key);
  return () => {
    held.delete(key);
    rmSync(file, { force: true });
  };
};

/** Signal 0 only checks if the process exists; a refusal means that it does. */
export const isRunning = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
};
